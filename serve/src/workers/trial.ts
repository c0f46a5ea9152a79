import type { ServedModel } from '../models/served-model.js'
import { RequestError } from '../protocol/error.js'
import { errorOf } from './errors.js'
import type { Loaded } from './messages.js'
import { PoolWorker, WorkerEnded, type WorkerEvents, type WorkerOptions } from './worker.js'

/** How often a model is tried in threads that end meanwhile. */
const ATTEMPTS = 2
/** How long a thread waits for the next model. */
const IDLE = 2000

/**
 * Threads that load models, and warm them up, before those do that answer requests: what hangs or ends there keeps nobody waiting. Each has one model at a
 * time, so that it is known whose fault it is.
 */
export class Trials {
  private readonly resting: PoolWorker[] = []
  private readonly busy = new Set<PoolWorker>()
  /** Those that are tried, by slot. */
  private readonly models = new Map<number, ServedModel>()
  private isEnding = false
  private timer: NodeJS.Timeout | null = null

  constructor(
    private readonly options: WorkerOptions,
    private readonly onWarning: (model: ServedModel, text: string) => void,
  ) {}

  /** Loads a model, and lets it go. Throws what is wrong with it. */
  async load(model: ServedModel): Promise<Loaded> {
    for (let attempt = 1; ; attempt++) {
      if (this.isEnding) throw ending()
      const worker = this.resting.pop() ?? new PoolWorker(-1, this.options, this.events)
      this.busy.add(worker)
      this.models.set(model.slot, model)
      try {
        return await loadedIn(worker, model)
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof WorkerEnded)) throw error
      } finally {
        this.busy.delete(worker)
        this.models.delete(model.slot)
        worker.unload(model.slot)
        if (!worker.hasEnded) this.rest(worker)
      }
    }
  }

  private readonly events: WorkerEvents = {
    onResult: () => undefined,
    onWarning: (slot, text) => {
      const model = this.models.get(slot)
      if (model !== undefined) this.onWarning(model, text)
    },
    onExit: (worker) => {
      const at = this.resting.indexOf(worker)
      if (at >= 0) this.resting.splice(at, 1)
    },
  }

  private rest(worker: PoolWorker): void {
    this.resting.push(worker)
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      for (const each of this.resting.splice(0)) void each.end()
    }, IDLE).unref()
  }

  /** Nobody waits for what is tried any more. */
  abandon(): void {
    this.isEnding = true
    for (const worker of this.busy) worker.abandonLoads(ending())
  }

  async close(): Promise<void> {
    this.abandon()
    if (this.timer !== null) clearTimeout(this.timer)
    await Promise.all([...this.busy, ...this.resting].map((worker) => worker.end()))
  }
}

export function ending(): RequestError {
  return new RequestError(503, 'the server is being ended', 1)
}

/** Throws what is wrong with the model. */
export async function loadedIn(worker: PoolWorker, model: ServedModel): Promise<Loaded> {
  const loaded = await worker.load(model.start!)
  if (loaded.failure !== null) throw errorOf(loaded.failure)
  return loaded
}
