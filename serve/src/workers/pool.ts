import { setNumThreads } from 'ptlite'
import type { Job, ServedModel } from '../models/served-model.js'
import { add } from '../models/statistics.js'
import { RequestError } from '../protocol/error.js'
import { divide } from './divide.js'
import { errorOf } from './errors.js'
import type { Loaded, Result } from './messages.js'
import { buffersOf } from './transfer.js'
import { ending, loadedIn, Trials } from './trial.js'
import { type Batch, GRACE, LoadStalled, PoolWorker, WorkerEnded, type WorkerEvents, type WorkerOptions } from './worker.js'

export interface PoolOptions extends WorkerOptions {
  readonly workers: number
  /** Threads of one run; null: what workers at rest leave. */
  readonly threads: number | null
  /** Processors to share. */
  readonly processors: number
  /** Takes memory of inputs that a worker hands back. */
  readonly onReturn: (block: ArrayBuffer) => void
  readonly onWarning: (model: ServedModel | undefined, text: string) => void
  readonly onDeath: (index: number, reason: string) => void
  /** A model could not be loaded again in a worker that replaces another. */
  readonly onLoss: (model: ServedModel, reason: string) => void
}

/** How often a model is loaded into workers that end meanwhile: no model is to end one after the other. */
const ATTEMPTS = 3
/** Between a worker's end and its successor's start, for each that ended in a row. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 10_000

/** Worker threads, each of which runs one request or batch at a time; what comes meanwhile waits with its model. */
export class Pool implements WorkerEvents {
  private readonly workers: PoolWorker[] = []
  private readonly models = new Map<number, ServedModel>()
  /** Models that have jobs waiting. */
  private readonly waiting = new Set<ServedModel>()
  private nextId = 1
  private isClosed = false
  private isEnding = false
  private restartPause = FIRST_PAUSE
  private threads = 0
  /** How often workers that replace others have ended while they loaded a model. */
  private readonly ends = new Map<number, number>()

  private readonly trials: Trials

  constructor(private readonly options: PoolOptions) {
    this.trials = new Trials(options, (model, text) => options.onWarning(model, text))
    for (let i = 0; i < options.workers; i++) this.add(i).isReady = true
    this.shareProcessors()
  }

  *usage(): Iterable<{ index: number; tensorBytes: number; heapBytes: number; busy: boolean }> {
    for (const { index, tensorBytes, heapBytes, current } of this.workers) yield { index, tensorBytes, heapBytes, busy: current !== null }
  }

  /** What a model's file says of it, and what its warm-up gives: a thread that answers no requests loads it for that. Throws what is wrong with it. */
  describe(model: ServedModel): Promise<Loaded> {
    return this.trials.load(model)
  }

  /** Loads a model into as many workers as it is to have. Throws what is wrong with it. */
  async load(model: ServedModel): Promise<Loaded> {
    for (let attempt = 1; ; attempt++) {
      while (!this.isEnding && this.workers.every(({ hasEnded }) => hasEnded)) await pause(FIRST_PAUSE)
      if (this.isEnding) throw ending()
      this.models.set(model.slot, model)
      try {
        const [loaded] = await Promise.all(this.hostsOf(model).map((worker) => loadedIn(worker, model)))
        this.pump()
        return loaded!
      } catch (error) {
        this.unload(model)
        this.pump()
        // a worker that ends meanwhile need not do so because of the model
        if (attempt === ATTEMPTS || this.isClosed || !(error instanceof WorkerEnded)) throw error
        await pause(attempt * FIRST_PAUSE)
      }
    }
  }

  /** Those that have it, or else those with the fewest models. */
  private hostsOf(model: ServedModel): PoolWorker[] {
    const count = Math.min(model.config.instances ?? this.workers.length, this.workers.length)
    const has = ({ slots }: PoolWorker): number => (slots.has(model.slot) ? 0 : 1)
    const alive = this.workers.filter(({ hasEnded }) => !hasEnded)
    return alive.sort((a, b) => has(a) - has(b) || a.slots.size - b.slots.size || a.index - b.index).slice(0, count)
  }

  /** Whether a worker has the model. */
  holds({ slot }: ServedModel): boolean {
    return this.workers.some(({ hasEnded, slots }) => !hasEnded && slots.has(slot))
  }

  /** The server ends: nobody waits for models any more. */
  abandonLoads(): void {
    this.isEnding = true
    this.trials.abandon()
    for (const worker of this.workers) worker.abandonLoads(ending())
  }

  unload(model: ServedModel): void {
    this.models.delete(model.slot)
    this.ends.delete(model.slot)
    this.waiting.delete(model)
    for (const worker of this.workers) worker.unload(model.slot)
  }

  /** Puts a job to those that wait, or to work. */
  submit(job: Job): void {
    const { model } = job
    if (job.sequence !== null) this.pin(job)
    else {
      model.queue.push(job)
      this.waiting.add(model)
    }
    this.pump()
  }

  /** A job was settled without its run: it leaves its queue, and a run that is for nobody is given up. */
  release(job: Job): void {
    for (const worker of this.workers) {
      const batch = worker.current
      if (batch?.jobs.includes(job) === true) {
        if (!batch.isCancelled && batch.jobs.every(({ isSettled }) => isSettled)) this.giveUp(worker, batch)
        return
      }
      const at = worker.pinned.indexOf(job)
      if (at >= 0) {
        worker.pinned.splice(at, 1)
        return
      }
    }
    job.model.queue.forget()
  }

  /** Ends sequences that nothing has been asked of for as long as their model's config says. */
  endIdleSequences(model: ServedModel): void {
    const since = performance.now() - (model.config.stateful?.idleMs ?? 0)
    for (const [id, { worker: index, lastUse }] of model.sequences) {
      const worker = this.workers[index]!
      const isOf = (job: Job): boolean => job.model === model && job.sequence?.id === id
      if (lastUse < since && !worker.pinned.some(isOf) && worker.current?.jobs.some(isOf) !== true) this.endSequence(model, id)
    }
  }

  endSequence(model: ServedModel, id: string): void {
    const found = model.sequences.get(id)
    model.sequences.delete(id)
    if (found !== undefined) this.workers[found.worker]?.send({ kind: 'end sequence', slot: model.slot, id })
  }

  async endWorker(index: number): Promise<void> {
    await this.workers[index]?.end()
  }

  async close(): Promise<void> {
    this.isEnding = this.isClosed = true
    await Promise.all([this.trials.close(), ...this.workers.map((worker) => worker.end())])
  }

  onWarning(slot: number, text: string): void {
    this.options.onWarning(this.models.get(slot), text)
  }

  onResult(worker: PoolWorker, batch: Batch, result: Result): void {
    this.restartPause = FIRST_PAUSE
    for (const block of result.returned) this.options.onReturn(block)
    const { model, sequence } = batch.jobs[0]!
    const now = performance.now()
    const kept = sequence === null ? undefined : model.sequences.get(sequence.id)
    if (kept !== undefined) kept.lastUse = now
    if (result.failure === null) {
      const { input, infer, output } = result.durations
      const { statistics } = model
      const inBatch = statistics.batch(batch.rows)
      statistics.executionCount++
      for (const [each, ns] of [
        [statistics.computeInput, input],
        [statistics.computeInfer, infer],
        [statistics.computeOutput, output],
        [inBatch.compute_input, input],
        [inBatch.compute_infer, infer],
        [inBatch.compute_output, output],
      ] as const)
        add(each, ns)
      model.metrics.run.observe((now - batch.began) / 1000)
      model.metrics.rows.observe(batch.rows)
    }
    for (const { traced, since } of batch.jobs) {
      traced?.stage('queue', since, batch.began)
      traced?.stage('run', batch.began, now, { 'ptlite.batch.rows': batch.rows })
    }
    // the next job goes first: answers take this thread's time
    this.pump()
    this.shareProcessors()
    if (result.failure === null && batch.jobs.length > 1) divide(batch, result)
    else for (const job of batch.jobs) job.settle(result.failure === null ? null : errorOf(result.failure), result.outputs)
  }

  onExit(worker: PoolWorker, reason: string): void {
    const { current, pinned, index } = worker
    worker.isReady = false
    worker.current = null
    if (this.isClosed) return
    this.options.onDeath(index, reason)
    const error = new RequestError(503, `the worker thread that ran the request has ended (${reason})`, 1)
    for (const job of [...(current?.jobs ?? []), ...pinned]) job.settle(error, [])
    for (const model of this.models.values())
      for (const [id, sequence] of model.sequences) if (sequence.worker === index) model.sequences.delete(id)
    setTimeout(() => void this.replace(worker), this.restartPause).unref()
    this.restartPause = Math.min(2 * this.restartPause, LONGEST_PAUSE)
  }

  private async replace(old: PoolWorker): Promise<void> {
    if (this.isClosed) return
    const worker = this.add(old.index)
    // those that were loaded while it was gone, too
    const everywhere = [...this.models.values()].filter(({ config }) => config.instances === null).map(({ slot }) => slot)
    for (const slot of new Set([...old.slots, ...everywhere])) {
      const model = this.models.get(slot)
      if (model === undefined || model.start === null || this.endsWorkers(model)) continue
      try {
        const { failure } = await worker.load(model.start)
        if (failure === null) continue
        worker.slots.delete(slot)
        this.options.onLoss(model, failure.message)
      } catch (error) {
        // it has ended as well, and is replaced in its turn, without a model that ends or stops one after the other
        for (const each of old.slots) worker.slots.add(each)
        if (error instanceof LoadStalled) this.ends.set(slot, ATTEMPTS)
        // others may have been loaded into it meanwhile
        else if (error instanceof WorkerEnded && error.suspects.length === 1) this.ends.set(slot, (this.ends.get(slot) ?? 0) + 1)
        if (this.endsWorkers(model)) {
          worker.slots.delete(slot)
          this.options.onLoss(model, (error as Error).message)
        }
        return
      }
    }
    worker.isReady = true
    this.pump()
  }

  private endsWorkers({ slot }: ServedModel): boolean {
    return (this.ends.get(slot) ?? 0) >= ATTEMPTS
  }

  private add(index: number): PoolWorker {
    const worker = new PoolWorker(index, this.options, this)
    this.workers[index] = worker
    return worker
  }

  private pin(job: Job): void {
    const { model, sequence } = job
    let found = model.sequences.get(sequence!.id)
    if (found === undefined) {
      const hosts = this.workers.filter(({ slots, isReady }) => isReady && slots.has(model.slot))
      if (hosts.length === 0) throw new RequestError(503, 'no worker thread has the model now', 1)
      const count = (index: number): number => [...model.sequences.values()].filter(({ worker }) => worker === index).length
      const { index } = hosts.reduce((a, b) => (count(b.index) < count(a.index) ? b : a))
      model.sequences.set(sequence!.id, (found = { worker: index, lastUse: 0 }))
    }
    found.lastUse = job.since
    this.workers[found.worker]!.pinned.push(job)
  }

  /** Gives workers at rest what waits. */
  private pump(): void {
    // those that load something may have to be waited for
    const isAnyLoading = this.workers.some(({ isLoading }) => isLoading)
    const inOrder = isAnyLoading ? [...this.workers].sort((a, b) => Number(a.isLoading) - Number(b.isLoading)) : this.workers
    for (const worker of inOrder) {
      while (worker.isReady && worker.current === null) {
        const jobs = this.next(worker)
        if (jobs === null) break
        this.dispatch(worker, jobs)
      }
    }
  }

  private next(worker: PoolWorker): readonly Job[] | null {
    let best: ServedModel | null = null
    let head: Job | null = worker.pinned[0] ?? null
    for (const model of this.waiting) {
      const first = model.queue.head()
      if (first === null) {
        this.waiting.delete(model)
        continue
      }
      if (!worker.slots.has(model.slot) || (head !== null && !isBefore(first, head))) continue
      if (worker.isLoading && this.workers.some((other) => other.isReady && !other.isLoading && other.slots.has(model.slot))) continue
      if (!this.isDue(model, first)) continue
      best = model
      head = first
    }
    if (best === null) return head === null ? null : [worker.pinned.shift()!]
    const jobs = best.queue.take(this.batchSize(best))
    if (best.queue.length === 0) this.waiting.delete(best)
    return jobs.length === 0 ? null : jobs
  }

  /** Whether a batch is full, or has waited long enough for others. */
  private isDue(model: ServedModel, first: Job): boolean {
    const { batching } = model.facts
    if (batching === null || batching.delayMs === 0 || first.key === null) return true
    const left = first.since + batching.delayMs - performance.now()
    if (left <= 0 || model.queue.rowsOfHead(batching.maxSize) >= batching.maxSize) return true
    model.batchTimer ??= setTimeout(() => {
      model.batchTimer = null
      this.pump()
    }, left)
    return false
  }

  /** Rows of the next batch: a size that there is a plan for, and no more than leaves something to each worker at rest. */
  private batchSize({ facts: { batching }, queue, slot }: ServedModel): number {
    if (batching === null) return 1
    const rows = queue.rowsOfHead(batching.maxSize * this.workers.length)
    const atRest = this.workers.filter(({ isReady, current, slots }) => isReady && current === null && slots.has(slot)).length
    const wanted = Math.min(Math.ceil(rows / Math.max(1, atRest)), batching.maxSize)
    return batching.preferred.reduce((size, each) => (each <= wanted ? each : size), 1)
  }

  private dispatch(worker: PoolWorker, jobs: readonly Job[]): void {
    const now = performance.now()
    const { model, sequence } = jobs[0]!
    let deadline = 0
    let rows = 0
    for (const job of jobs) {
      deadline = Math.max(deadline, job.deadline)
      rows += job.rows
      add(model.statistics.queue, Math.round((now - job.since) * 1e6))
      model.metrics.wait.observe((now - job.since) / 1000)
    }
    const id = this.nextId++
    worker.current = { id, jobs, rows, began: now, isCancelled: false }
    this.shareProcessors()
    const milliseconds = deadline === Infinity ? null : Math.max(1, deadline - now)
    const parts = jobs.map(({ args }) => args)
    worker.send(
      { kind: 'run', id, slot: model.slot, parts, milliseconds, sequence },
      buffersOf(parts.length === 1 ? parts[0]! : parts.flat()),
    )
    if (sequence?.end === true) model.sequences.delete(sequence.id)
  }

  private giveUp(worker: PoolWorker, batch: Batch): void {
    batch.isCancelled = true
    worker.send({ kind: 'cancel', id: batch.id })
    setTimeout(() => {
      if (worker.current === batch) void worker.end()
    }, GRACE).unref()
  }

  /** Threads for each run, so that all of them together are as many as there are processors. */
  private shareProcessors(): void {
    const { threads: fixed, processors } = this.options
    let busy = 0
    for (const { current } of this.workers) if (current !== null) busy++
    const threads = fixed ?? Math.max(1, Math.floor(processors / Math.max(1, busy)))
    if (threads === this.threads) return
    this.threads = threads
    setNumThreads(threads)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function isBefore(a: Job, b: Job): boolean {
  return a.level !== b.level ? a.level < b.level : a.since < b.since
}
