import { Worker } from 'node:worker_threads'
import type { Job } from '../models/served-model.js'
import { RequestError } from '../protocol/error.js'
import type { Loaded, ModelStart, Reply, Request, Result, WorkerSettings } from './messages.js'

export interface Batch {
  readonly id: number
  readonly jobs: readonly Job[]
  readonly rows: number
  readonly began: number
  /** It was told to give the run up. */
  isCancelled: boolean
}

export interface WorkerOptions {
  /** File of a worker thread. */
  readonly file: URL
  /** Of V8; null: what Node says. */
  readonly heapMegabytes: number | null
  /** How much it lets other threads go first. */
  readonly nice: number
}

export interface WorkerEvents {
  onResult(worker: PoolWorker, batch: Batch, result: Result): void
  onWarning(slot: number, text: string): void
  /** It has ended, whatever for. */
  onExit(worker: PoolWorker, reason: string): void
}

/** What a load ends with where its worker has ended. */
export class WorkerEnded extends RequestError {
  /** `suspects`: slots of the models that it may have ended for, which are those whose loads were under way. */
  constructor(
    reason: string,
    readonly suspects: readonly number[] = [],
  ) {
    super(503, `the worker threads that loaded the model have ended: ${reason}`, 1)
  }
}

/** What a load ends with that does not come to its end. The thread that it hangs in has been ended. */
export class LoadStalled extends RequestError {
  constructor(milliseconds: number) {
    super(400, `loading it, or its warm-up, hung for more than ${milliseconds} ms; the worker thread was replaced`)
  }
}

/** How long a step of a load, or a run that was told to end, may go on behind its time before its thread is ended. */
export const GRACE = 5000
/** How long a thread that is ended is waited for: a kernel that does not look at the clock goes on meanwhile. */
const LAST_WAIT = 1000

interface Load {
  readonly result: Promise<Loaded>
  readonly resolve: (loaded: Loaded) => void
  readonly reject: (error: Error) => void
  /** Runs while a step is under way. */
  timer: NodeJS.Timeout | null
}

/** A thread of the pool as the server sees it. */
export class PoolWorker {
  /** What it runs now. */
  current: Batch | null = null
  /** It has all models that it should have. */
  isReady = false
  readonly slots = new Set<number>()
  /** Jobs of sequences whose models are here. */
  readonly pinned: Job[] = []
  hasEnded = false
  tensorBytes = 0
  heapBytes = 0
  private readonly thread: Worker
  private readonly loads = new Map<number, Load>()
  private reason = 'it ended'
  /** The model whose load hung. */
  private stalled: number | null = null

  constructor(
    readonly index: number,
    { file, heapMegabytes, nice }: WorkerOptions,
    private readonly events: WorkerEvents,
  ) {
    this.thread = new Worker(file, {
      name: `ptlite-serve ${index}`,
      workerData: { nice } satisfies WorkerSettings,
      ...(heapMegabytes === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } }),
    })
    this.thread.on('message', (reply: Reply) => this.receive(reply))
    this.thread.on('error', (error: Error) => {
      this.reason = error.message
    })
    this.thread.on('exit', () => this.hasGone())
  }

  private hasGone(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.abandonLoads(new WorkerEnded(this.reason, this.stalled === null ? [...this.loads.keys()] : [this.stalled]))
    this.events.onExit(this, this.reason)
  }

  load(start: ModelStart): Promise<Loaded> {
    if (this.hasEnded) return Promise.reject(new WorkerEnded(this.reason))
    this.slots.add(start.slot)
    // a worker that replaces another may load it already
    const underWay = this.loads.get(start.slot)
    if (underWay !== undefined) return underWay.result
    let settle: Pick<Load, 'resolve' | 'reject'>
    const result = new Promise<Loaded>((resolve, reject) => (settle = { resolve, reject }))
    this.loads.set(start.slot, { result, ...settle!, timer: null })
    this.send({ kind: 'load', start })
    return result
  }

  /** It has a load under way, during which runs may have to wait for long. */
  get isLoading(): boolean {
    return this.loads.size > 0
  }

  /** Ends all loads that are under way, as far as those who wait for them are concerned. */
  abandonLoads(error: Error): void {
    for (const slot of [...this.loads.keys()]) this.takeLoad(slot)?.reject(error)
  }

  private takeLoad(slot: number): Load | undefined {
    const load = this.loads.get(slot)
    this.loads.delete(slot)
    clearTimeout(load?.timer ?? undefined)
    return load
  }

  private watch(slot: number, milliseconds: number): void {
    const load = this.loads.get(slot)
    if (load === undefined) return
    if (load.timer !== null) clearTimeout(load.timer)
    const most = milliseconds + GRACE
    load.timer = setTimeout(() => {
      this.takeLoad(slot)?.reject(new LoadStalled(most))
      this.reason = 'a load hung'
      this.stalled = slot
      void this.end()
    }, most)
  }

  unload(slot: number): void {
    if (this.slots.delete(slot)) this.send({ kind: 'unload', slot })
  }

  send(request: Request, transfer: ArrayBuffer[] = []): void {
    this.thread.postMessage(request, transfer)
  }

  /** Ends the thread. One that is in a kernel which does not look at the clock is taken for ended before it has. */
  async end(): Promise<void> {
    // what looks whether it is given up need not be waited for
    if (this.current !== null) this.send({ kind: 'cancel', id: this.current.id })
    const ended = this.thread.terminate()
    let timer: NodeJS.Timeout | undefined
    await Promise.race([ended, new Promise((resolve) => (timer = setTimeout(resolve, LAST_WAIT)))])
    clearTimeout(timer)
    this.thread.unref()
    this.hasGone()
  }

  private receive(reply: Reply): void {
    switch (reply.kind) {
      case 'loaded': {
        this.takeLoad(reply.slot)?.resolve(reply)
        return
      }
      case 'step':
        this.watch(reply.slot, reply.milliseconds)
        return
      case 'result': {
        const batch = this.current
        if (batch?.id !== reply.id) return
        this.current = null
        this.events.onResult(this, batch, reply)
        return
      }
      case 'warning':
        this.events.onWarning(reply.slot, reply.text)
        return
      case 'usage':
        this.tensorBytes = reply.tensorBytes
        this.heapBytes = reply.heapBytes
    }
  }
}
