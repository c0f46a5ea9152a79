import type { LoadOptions, RunOptions } from '../../engine/options.js'
import { abortion, throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { checkList, checkText, reading } from '../../runtime/tensor/check-arguments.js'
import { Complex, complex, Float, float } from '../../runtime/tensor/scalar.js'
import { Tuple } from '../../runtime/tensor/value.js'
import { runSettings } from '../../src/call-options.js'
import { tuple } from '../../src/values/coerce.js'
import { Tensor } from '../../src/tensor-type.js'
import type { Chunks } from '../../src/remote/chunks.js'
import { failureOf } from './failures.js'
import type { About, Reply, Request, Sent } from './messages.js'
import { startThread, type Thread } from './thread.js'
import { holdsTensor, Packer, Unpacker } from './values.js'

const CLASSES = { Tensor, Complex, Float, PtliteError, float, complex, tuple }

/** A request that was not answered yet. */
interface Pending {
  readonly request: Request
  readonly transfer: readonly ArrayBuffer[]
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
  /** Nobody waits for the answer any more. */
  isGivenUp: boolean
}

/** Who is told of what the load finds. */
interface Listener {
  readonly onWarning: LoadOptions['onWarning'] | undefined
  readonly onProgress: LoadOptions['onProgress'] | undefined
}

/** The worker of one model: requests are sent one at a time, so that those that wait can be taken back. */
export class Connection {
  private readonly thread: Thread
  private readonly queue: Pending[] = []
  private isBusy = false
  private over: PtliteError | undefined
  private isRetired = false

  /** Throws UNSUPPORTED_HOST where the host has no workers. */
  constructor(
    private readonly pieces: Chunks | undefined,
    private readonly listener: Listener,
  ) {
    try {
      this.thread = startThread({
        reply: (reply) => this.receive(reply),
        fail: (reason) => this.end(new PtliteError('INTERNAL', `the worker of the model is gone: ${reason}; load the model again`)),
      })
    } catch (cause) {
      throw new PtliteError('UNSUPPORTED_HOST', `no worker can be started: ${(cause as Error).message}`, { cause })
    }
    this.thread.hold(false)
  }

  async load(request: Request, signal: AbortSignal | undefined): Promise<About> {
    try {
      const reply = await this.ask(request, [], signal)
      return (reply as Extract<Reply, { kind: 'loaded' }>).about
    } catch (error) {
      this.pieces?.cancel(error)
      this.dispose()
      throw error
    }
  }

  async call(kind: 'run' | 'compile', method: string, args: readonly unknown[], options: RunOptions): Promise<unknown> {
    const { signal, limits } = runSettings(options)
    checkText(method, 'the name of a method')
    checkList(args, `the arguments of ${method}()`)
    throwIfAborted(signal)
    if (this.over !== undefined) throw this.over
    const packer = new Packer(CLASSES, (value) => (value instanceof Tuple ? value.items : undefined))
    const sent = reading(() => args.map((arg) => packer.pack(arg)))
    const reply = await this.ask({ kind, method, args: sent, limits, isAbortable: signal !== undefined }, [...packer.transfer], signal)
    return this.resultOf((reply as Extract<Reply, { kind: 'result' }>).value)
  }

  dispose(): void {
    this.end(new PtliteError('DISPOSED', 'the module was disposed'))
  }

  /** Ends it once what was asked for is answered. */
  retire(): void {
    this.isRetired = true
    if (this.queue.length === 0) this.dispose()
  }

  private async resultOf(value: Sent): Promise<unknown> {
    if (holdsTensor(value)) await kernelsReady()
    return new Unpacker(CLASSES, 'arrays').unpack(value)
  }

  private async ask(request: Request, transfer: readonly ArrayBuffer[], signal: AbortSignal | undefined): Promise<Reply> {
    if (this.over !== undefined) throw this.over
    let giveUp = (): void => undefined
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const pending: Pending = { request, transfer, resolve, reject, isGivenUp: false }
        giveUp = (): void => {
          pending.isGivenUp = true
          // what it answers all the same is of no use, and what is sent next comes behind this
          if (this.isBusy && this.queue[0] === pending) this.thread.post({ kind: 'abort' }, [])
          reject(abortion(signal!))
        }
        signal?.addEventListener('abort', giveUp)
        this.queue.push(pending)
        this.next()
      })
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** Sends the first request that somebody waits for. */
  private next(): void {
    if (this.isBusy || this.over !== undefined) return
    while (this.queue[0]?.isGivenUp === true) this.queue.shift()
    const first = this.queue[0]
    this.thread.hold(first !== undefined)
    if (first === undefined) {
      if (this.isRetired) this.dispose()
      return
    }
    try {
      this.thread.post(first.request, first.transfer)
      this.isBusy = true
    } catch (cause) {
      this.queue.shift()
      first.reject(new PtliteError('INVALID_ARGUMENT', `an argument cannot be sent to a worker: ${(cause as Error).message}`, { cause }))
      this.next()
    }
  }

  private receive(reply: Reply): void {
    if (reply.kind === 'warning') this.listener.onWarning?.(reply.text)
    else if (reply.kind === 'progress') this.listener.onProgress?.(reply.progress)
    else if (reply.kind === 'pull') void this.sendPiece()
    else this.settle(reply)
  }

  private settle(reply: Reply): void {
    const first = this.queue.shift()
    this.isBusy = false
    if (reply.kind === 'failed') first?.reject(new PtliteError(reply.failure.code, reply.failure.message))
    else first?.resolve(reply)
    this.next()
  }

  private async sendPiece(): Promise<void> {
    const { pieces } = this
    try {
      const piece = (await pieces!.next()) as Uint8Array | undefined
      // whose memory it is, is not known
      const bytes = piece && new Uint8Array(piece)
      if (this.over === undefined) this.thread.post({ kind: 'piece', bytes }, bytes === undefined ? [] : [bytes.buffer])
    } catch (error) {
      const failure = { ...failureOf(error, { PtliteError }), code: 'INVALID_FILE' as const }
      if (this.over === undefined)
        this.thread.post(
          {
            kind: 'piece',
            bytes: undefined,
            failure: { ...failure, message: `the bytes of the model cannot be read: ${failure.message}` },
          },
          [],
        )
    }
  }

  private end(reason: PtliteError): void {
    if (this.over !== undefined) return
    this.over = reason
    this.thread.terminate()
    for (const { reject } of this.queue.splice(0)) reject(reason)
  }
}
