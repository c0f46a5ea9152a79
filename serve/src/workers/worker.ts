import { Worker } from 'node:worker_threads'
import type { Job } from '../models/job.js'
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
  constructor(reason: string) {
    super(503, `the worker threads that loaded the model have ended: ${reason}`, 1)
  }
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
  private readonly loads = new Map<number, { readonly resolve: (loaded: Loaded) => void; readonly reject: (error: Error) => void }>()
  private reason = 'it ended'

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
    this.thread.on('exit', () => {
      this.hasEnded = true
      for (const { reject } of this.loads.values()) reject(new WorkerEnded(this.reason))
      this.loads.clear()
      events.onExit(this, this.reason)
    })
  }

  load(start: ModelStart): Promise<Loaded> {
    if (this.hasEnded) return Promise.reject(new WorkerEnded(this.reason))
    this.slots.add(start.slot)
    return new Promise((resolve, reject) => {
      this.loads.set(start.slot, { resolve, reject })
      this.send({ kind: 'load', start })
    })
  }

  unload(slot: number): void {
    if (this.slots.delete(slot)) this.send({ kind: 'unload', slot })
  }

  send(request: Request, transfer: ArrayBuffer[] = []): void {
    this.thread.postMessage(request, transfer)
  }

  async end(): Promise<void> {
    await this.thread.terminate()
  }

  private receive(reply: Reply): void {
    switch (reply.kind) {
      case 'loaded': {
        const waiting = this.loads.get(reply.slot)
        this.loads.delete(reply.slot)
        waiting?.resolve(reply)
        return
      }
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
