import { Worker } from 'node:worker_threads'
import type { ModelMetrics } from '../metrics.js'
import { RequestError } from '../protocol/error.js'
import { errorOf } from '../workers/errors.js'
import type { SpeechSegment } from 'ptlite'
import type {
  EmbedRequest,
  Ended,
  GenerateRequest,
  Piece,
  TextReply,
  TextRequest,
  TextStart,
  Transcribed,
  TranscribeRequest,
  Vectors,
} from './messages.js'

/** Takes what becomes of a generation. Exactly one of `ended` and `failed` is called, once, and nothing after it. */
export interface GenerationSink {
  began(promptTokens: number, cachedTokens: number): void
  piece(piece: Piece): void
  ended(ended: Ended): void
  failed(error: Error): void
}

export interface EmbeddingSink {
  embedded(vectors: Vectors): void
  failed(error: Error): void
}

export interface TranscriptionSink {
  segment(segment: SpeechSegment): void
  transcribed(transcribed: Transcribed): void
  failed(error: Error): void
}

/** A request that was taken on. */
export interface RunningText {
  /** Nobody waits for it any more: `failed` is called at once, and its slot is free after the step that it is at. */
  cancel(error: Error): void
}

export interface TextHostEvents {
  onWarning(text: string): void
  /** The thread has ended, whatever for; another takes its place. */
  onDeath(reason: string): void
  /** A request was taken on. */
  onBegin(): void
  /** It has its answer, or is given up. */
  onEnd(): void
}

interface Job {
  readonly id: number
  readonly request: Exclude<TextRequest, { kind: 'cancel' }>
  /** null: nobody waits for it any more. */
  sink: (Partial<GenerationSink & EmbeddingSink & TranscriptionSink> & Pick<GenerationSink, 'failed'>) | null
  readonly since: number
  began: number
  firstPiece: number
}

/** How long a step may go on behind its time before the thread is ended. */
const GRACE = 5000
/** Between a thread's end and its successor's start, for each that ended in a row. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 10_000

/** A language model as the server sees it: sequences that are generated, and those that wait for a slot. */
export class TextHost {
  /** Seconds since the epoch. */
  readonly since = Math.floor(Date.now() / 1000)
  hasTemplate = false
  private thread: Worker | null = null
  /** One that loads the model. */
  private opening: Worker | null = null
  private readonly running = new Map<number, Job>()
  private readonly waiting: Job[] = []
  private nextId = 1
  private pause = FIRST_PAUSE
  private watch: NodeJS.Timeout | null = null
  private isClosed = false

  constructor(
    private readonly file: URL,
    private readonly start: TextStart,
    private readonly queueSize: number,
    private readonly metrics: ModelMetrics,
    private readonly events: TextHostEvents,
  ) {}

  get task(): TextStart['config']['task'] {
    return this.start.config.task
  }

  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.size, waiting: this.waiting.length }
  }

  /** Throws what is wrong with the model. */
  async open(): Promise<void> {
    const thread = new Worker(this.file, { name: 'ptlite-serve text', workerData: this.start })
    this.opening = thread
    let reason = 'it ended'
    let stalled: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        const watch = (): void => {
          clearTimeout(stalled)
          const most = this.start.milliseconds + GRACE
          stalled = setTimeout(
            () => reject(new RequestError(400, `loading it, or its first step, hung for more than ${most} ms; the thread was ended`)),
            most,
          )
        }
        watch()
        thread.on('message', (reply: TextReply) => {
          if (reply.kind === 'step') watch()
          else if (reply.kind === 'warning') this.events.onWarning(reply.text)
          else if (reply.kind === 'loaded') {
            this.hasTemplate = reply.hasTemplate
            if (reply.failure === null) resolve()
            else reject(errorOf(reply.failure))
          }
        })
        thread.on('error', (error: Error) => {
          reason = error.message
        })
        thread.on('exit', () => reject(new RequestError(503, `the thread that loaded the model has ended: ${reason}`, 1)))
      })
    } catch (error) {
      void thread.terminate()
      throw error
    } finally {
      clearTimeout(stalled)
      this.opening = null
    }
    if (this.isClosed) {
      void thread.terminate()
      throw new RequestError(503, 'the server is being ended', 1)
    }
    thread.removeAllListeners('message').removeAllListeners('exit')
    thread.on('message', (reply: TextReply) => this.receive(reply))
    thread.on('exit', () => this.lose(thread, reason))
    this.thread = thread
  }

  generate(request: Omit<GenerateRequest, 'kind' | 'id'>, sink: GenerationSink): RunningText {
    return this.submit({ ...request, kind: 'generate', id: this.nextId++ }, sink)
  }

  embed(request: Omit<EmbedRequest, 'kind' | 'id'>, sink: EmbeddingSink): RunningText {
    return this.submit({ ...request, kind: 'embed', id: this.nextId++ }, sink)
  }

  transcribe(request: Omit<TranscribeRequest, 'kind' | 'id'>, sink: TranscriptionSink): RunningText {
    return this.submit({ ...request, kind: 'transcribe', id: this.nextId++ }, sink)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.failAll(new RequestError(503, 'the model is being unloaded', 1))
    if (this.watch !== null) clearTimeout(this.watch)
    await Promise.all([this.thread?.terminate(), this.opening?.terminate()])
  }

  /** Throws where it has no room for another request. */
  private submit(request: Job['request'], sink: NonNullable<Job['sink']>): RunningText {
    if (this.thread === null) throw new RequestError(503, "the model's thread has ended; another takes its place", 1)
    if (this.waiting.length >= this.queueSize)
      throw new RequestError(503, `${this.queueSize} requests wait for the model, which is as many as may`, 1)
    const job: Job = { id: request.id, request, sink, since: performance.now(), began: 0, firstPiece: 0 }
    this.waiting.push(job)
    this.events.onBegin()
    this.pump()
    return { cancel: (error) => this.cancel(job, error) }
  }

  private pump(): void {
    while (this.thread !== null && this.waiting.length > 0 && this.running.size < this.start.config.slots) {
      const job = this.waiting.shift()!
      job.began = performance.now()
      this.metrics.wait.observe((job.began - job.since) / 1000)
      this.running.set(job.id, job)
      this.thread.postMessage(job.request)
      this.watchThread()
    }
  }

  private cancel(job: Job, error: Error): void {
    if (job.sink === null) return
    if (this.running.has(job.id)) this.thread?.postMessage({ kind: 'cancel', id: job.id } satisfies TextRequest)
    else {
      const at = this.waiting.indexOf(job)
      if (at >= 0) this.waiting.splice(at, 1)
    }
    this.fail(job, error)
  }

  private fail(job: Job, error: Error): void {
    const { sink } = job
    job.sink = null
    if (sink === null) return
    this.metrics.request.observe((performance.now() - job.since) / 1000)
    sink.failed(error)
    this.events.onEnd()
  }

  private failAll(error: Error): void {
    const jobs = [...this.running.values(), ...this.waiting.splice(0)]
    this.running.clear()
    for (const job of jobs) this.fail(job, error)
  }

  private receive(reply: TextReply): void {
    this.watchThread()
    if (reply.kind === 'warning') return this.events.onWarning(reply.text)
    if (reply.kind === 'step' || reply.kind === 'loaded') return
    const job = this.running.get(reply.id)
    if (job === undefined) return
    const { sink } = job
    switch (reply.kind) {
      case 'began':
        this.pause = FIRST_PAUSE
        job.firstPiece = performance.now()
        this.metrics.firstToken.observe((job.firstPiece - job.since) / 1000)
        this.metrics.promptTokens.inc(reply.promptTokens)
        sink?.began?.(reply.promptTokens, reply.cachedTokens)
        return
      case 'piece':
        sink?.piece?.(reply.piece)
        return
      case 'segment':
        sink?.segment?.(reply.segment)
        return
      default:
        this.running.delete(job.id)
        this.settle(job, reply)
        this.pump()
        this.watchThread()
    }
  }

  private settle(job: Job, reply: Extract<TextReply, { kind: 'ended' | 'embedded' | 'transcribed' | 'failed' }>): void {
    if (reply.kind === 'failed') return this.fail(job, errorOf(reply.failure))
    const now = performance.now()
    const { sink } = job
    job.sink = null
    if (reply.kind === 'ended') {
      const seconds = (now - job.firstPiece) / 1000
      this.metrics.completionTokens.inc(reply.completionTokens)
      if (reply.completionTokens > 1) this.metrics.tokensPerSecond.observe((reply.completionTokens - 1) / seconds)
    } else (reply.kind === 'embedded' ? this.metrics.promptTokens : this.metrics.completionTokens).inc(reply.tokens)
    if (sink === null) return
    this.metrics.request.observe((now - job.since) / 1000)
    this.metrics.run.observe((now - job.began) / 1000)
    if (reply.kind === 'ended') sink.ended?.(reply)
    else if (reply.kind === 'embedded') sink.embedded?.(reply)
    else sink.transcribed?.(reply)
    this.events.onEnd()
  }

  /** A thread that says nothing for as long as a step may take hangs. */
  private watchThread(): void {
    if (this.watch !== null) clearTimeout(this.watch)
    this.watch = null
    const { thread } = this
    if (thread === null || this.running.size === 0) return
    this.watch = setTimeout(() => void thread.terminate(), this.start.milliseconds + GRACE)
  }

  private lose(thread: Worker, reason: string): void {
    if (this.thread !== thread) return
    this.thread = null
    if (this.isClosed) return
    this.failAll(new RequestError(503, `the thread of the model has ended (${reason})`, 1))
    this.events.onDeath(reason)
    this.reopen()
  }

  private reopen(): void {
    setTimeout(() => {
      if (!this.isClosed) this.open().then(() => this.pump(), () => this.reopen()) // prettier-ignore
    }, this.pause).unref()
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE)
  }
}
