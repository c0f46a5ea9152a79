import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { chosenLibrary } from '../../runtime/native/library-path.js'
import { unpacked } from '../../runtime/native/unpacked.js'
import type { Reply, Request, WorkerStart } from './messages.js'

/** Beside the bundles; from the sources, in the built package. */
const ENTRIES = ['worker.cjs', '../../dist/worker.cjs']

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** Rejects requests that the thread had not come to when it ended: another thread may be asked the same. */
export class NotBegun extends Error {
  constructor(
    /** Why it ended. */
    readonly reason: PtliteError | undefined,
    /** It was the next one: that it cannot even be taken in may be why. */
    readonly isNext: boolean,
  ) {
    super(reason?.message)
  }
}

/** Names the milliseconds without a request after which the thread ends. */
const IDLE_VARIABLE = 'PTLITE_BACKGROUND_IDLE'
const DEFAULT_IDLE = 10_000

/** Throws UNSUPPORTED_HOST where Node has been told to start no workers. */
function startWorker(start: WorkerStart): Worker {
  try {
    return new Worker(entryPath(), { workerData: start, execArgv: [] })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw cause
    throw new PtliteError(
      'UNSUPPORTED_HOST',
      'run() and compile() work in another thread: start Node with --allow-worker, or use forward() and call()',
      { cause },
    )
  }
}

/**
 * The thread that interprets in the background. It keeps the process alive only while it works, and ends when it has had nothing to do for
 * a while. Its native memory stays until nothing that it has made is used here (`hold`), or until this thread has ended too.
 */
export class BackgroundThread {
  private readonly worker: Worker
  private readonly waiting: Waiting[] = []
  /** Requests that were asked, and those that the thread has begun. */
  private asked = 0
  private readonly begun = new Int32Array(new SharedArrayBuffer(4))
  private over = false
  private reason: PtliteError | undefined
  private readonly owner = kernels.owner_create()
  private holds = 0
  private exited = false
  private released = false
  private users = 0
  private readonly idle: NodeJS.Timeout

  constructor(private readonly onWarning: (module: number, text: string) => void) {
    const begun = this.begun.buffer as SharedArrayBuffer
    const start: WorkerStart = { ptlite: 'background', nativeLibrary: chosenLibrary() || undefined, owner: this.owner, begun }
    // flags of this process, such as --input-type, need not fit a worker
    this.worker = startWorker(start)
    this.worker.unref()
    this.idle = setTimeout(() => {
      if (this.users === 0) this.retire()
    }, idleTime()).unref()
    this.worker.on('message', (reply: Reply) => {
      if (reply.kind === 'warning') this.onWarning(reply.module, reply.text)
      else this.settle(({ resolve }) => resolve(reply))
    })
    this.worker.on('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'OUT_OF_MEMORY' : 'INTERNAL'
      this.doom(new PtliteError(code, `the background thread failed in this run: ${error.message}`, { cause: error }))
    })
    this.worker.on('messageerror', (error) => {
      // which request has lost its answer, nobody can say
      this.doom(new PtliteError('INTERNAL', `the background thread gave an answer that cannot be read: ${error.message}`, { cause: error }))
      void this.worker.terminate()
    })
    this.worker.on('exit', (code) => {
      this.doom(new PtliteError('INTERNAL', `the background thread ended in this run, with exit code ${code}; the next run starts another`))
      this.end()
    })
  }

  /** False once the thread is gone, or takes no requests any more. */
  get alive(): boolean {
    return !this.over
  }

  /** It stays, as requests are about to come, until the returned function is called. */
  use(): () => void {
    this.users++
    return () => {
      if (--this.users === 0) this.idle.refresh()
    }
  }

  /** Requests are answered in order. Where the thread ends, the one that it was at fails with it; others reject with NotBegun. */
  ask(request: Request): Promise<Reply> {
    if (this.over) return Promise.reject(new NotBegun(this.reason, false))
    return new Promise((resolve, reject) => {
      this.worker.postMessage(request)
      this.waiting.push({ resolve, reject })
      this.asked++
      if (this.waiting.length === 1) this.worker.ref()
    })
  }

  /** For requests without an answer. */
  tell(request: Request): void {
    if (!this.over) this.worker.postMessage(request)
  }

  /** Something that the thread has made is in use here, until the returned function is called. */
  hold(): () => void {
    this.holds++
    let held = true
    return () => {
      if (held) this.holds--
      held = false
      this.releaseMemory()
    }
  }

  private retire(): void {
    this.tell({ kind: 'retire' })
    this.over = true
  }

  private releaseMemory(): void {
    if (!this.exited || this.holds > 0 || this.released) return
    this.released = true
    kernels.owner_release({ owner: this.owner })
  }

  private settle(how: (waiting: Waiting) => void): void {
    const first = this.waiting.shift()
    if (this.waiting.length === 0) this.worker.unref()
    if (first !== undefined) how(first)
  }

  /** It takes no requests any more, and ends. */
  private doom(reason: PtliteError): void {
    this.over = true
    this.reason ??= reason
  }

  /** Nothing that requests named is in use any more. */
  private end(): void {
    clearTimeout(this.idle)
    const begun = Atomics.load(this.begun, 0)
    const answered = this.asked - this.waiting.length
    // one that cannot begin at all would be started again and again
    const failing = begun === 0 ? 1 : begun - answered
    for (const [i, { reject }] of this.waiting.splice(0).entries()) reject(i < failing ? this.reason! : new NotBegun(this.reason, i === 0))
    this.exited = true
    this.releaseMemory()
  }
}

function idleTime(): number {
  const text = process.env[IDLE_VARIABLE]
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_IDLE
}

function entryPath(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = ENTRIES.map((name) => unpacked(join(here, name))).find((path) => existsSync(path))
  if (found === undefined) {
    throw new PtliteError(
      'NATIVE_LIBRARY',
      `no worker.cjs in ${here}; Module.run needs it and the other .cjs files of the package's dist folder there: copy node_modules/ptlite/dist/*.cjs`,
    )
  }
  return found
}
