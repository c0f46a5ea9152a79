import { availableParallelism } from 'node:os'
import { type Blocks, LEAST_BYTES } from './blocks.js'
import { LONG_INLINE_MS, MANY_CALLS, MAX_INLINE_MS } from './inline.js'
import { quoted, RequestError, invalid } from './protocol/error.js'
import type { AnswerOutput } from './protocol/answer.js'
import { classify } from './protocol/classify.js'
import type { InferRequest, NamedTensor, Parameter } from './protocol/tensor.js'
import { learnedFrom } from './models/learned.js'
import { LEVELS, USUAL_LEVEL } from './models/queue.js'
import type { Repository } from './models/repository.js'
import type { Job, Sequence, ServedModel, Settle } from './models/served-model.js'
import type { Traced } from './tracing.js'
import { bind, outputName } from './models/signature.js'
import { add } from './models/statistics.js'
import { errorOf } from './workers/errors.js'
import { failureOf } from './workers/hosted-model.js'
import type { NamedResult, SentArgument } from './workers/messages.js'
import { buffersOf, toSent } from './workers/transfer.js'

/** A request that was taken on. */
export interface Running {
  /** Nobody waits for the answer any more. */
  cancel(): void
}

export interface Inferred {
  readonly model: ServedModel
  readonly outputs: readonly AnswerOutput[]
}

export type Done = (error: Error | null, result: Inferred | null) => void

/** Runs requests, whichever protocol they came by. `timeoutMs`: what the client waits for at most, if it says so. */
export class Inference {
  constructor(
    private readonly repository: Repository,
    private readonly blocks: Blocks,
  ) {}

  /** Calls `done` once; null: it has been called. Throws what is wrong with the request. */
  start(
    name: string,
    version: string | undefined,
    request: InferRequest,
    timeoutMs: number | null,
    traced: Traced | null,
    done: Done,
  ): Running | null {
    const model = this.repository.find(name, version)
    const began = performance.now()
    try {
      return this.run(model, request, timeoutMs, traced, began, done)
    } catch (error) {
      add(model.statistics.fail, Math.round((performance.now() - began) * 1e6))
      throw error
    }
  }

  private run(
    model: ServedModel,
    request: InferRequest,
    timeoutMs: number | null,
    traced: Traced | null,
    began: number,
    done: Done,
  ): Running | null {
    const { facts, statistics, metrics } = model
    if (model.text !== null) throw invalid(`model '${model.name}' takes text, and no tensors: ask for generate, or below /v1`)
    const given: readonly (NamedTensor | null)[] = facts.inputs === null ? request.inputs : bind(facts.inputs, request.inputs)
    if (request.outputs !== null && facts.outputs !== null) checkOutputs(request, facts.outputs)
    const sequence = sequenceOf(request.parameters, model)
    const level = levelOf(request.parameters)
    const timeout = Math.min(model.timeoutMs, timeoutMs ?? Infinity, timeoutOf(request.parameters))
    const settle: Settle = (error, results) => {
      const ns = Math.round((performance.now() - began) * 1e6)
      statistics.lastInference = Date.now()
      let outputs: AnswerOutput[] = []
      let fault = error
      if (fault === null) {
        try {
          model.learned ??= learnedFrom(given, results)
          outputs = answered(model, request, results)
        } catch (thrown) {
          fault = thrown as Error
        }
      }
      metrics.request.observe(ns / 1e9)
      if (fault === null) {
        add(statistics.success, ns)
        done(null, { model, outputs })
      } else {
        add(statistics.fail, ns)
        done(fault, null)
      }
    }
    const args = given.map((each): SentArgument => (each === null ? null : toSent(each)))
    const rows = rowsOf(given)
    if (model.inline !== null && sequence === null && this.callInline(model, args, rows ?? 1, traced, settle)) return null
    return this.enqueue(model, args, rows, sequence, level, timeout, traced, began, settle)
  }

  /** False where the call takes too long for this thread, and has to go to a worker. */
  private callInline(model: ServedModel, args: readonly SentArgument[], rows: number, traced: Traced | null, settle: Settle): boolean {
    const { statistics } = model
    const began = performance.now()
    let results: NamedResult[]
    try {
      results = model.inline!.call([args], MAX_INLINE_MS)
    } catch (error) {
      const failure = failureOf(error)
      if (failure.code === 'LIMIT_EXCEEDED') {
        this.noteInline(model, true)
        return false
      }
      settle(errorOf(failure), [])
      this.giveBack(args)
      return true
    }
    const ended = performance.now()
    const ms = ended - began
    traced?.stage('run', began, ended)
    model.metrics.run.observe(ms / 1000)
    statistics.executionCount++
    statistics.inferenceCount += rows
    add(statistics.queue, 0)
    add(statistics.computeInfer, Math.round(ms * 1e6))
    this.noteInline(model, ms > LONG_INLINE_MS)
    settle(null, results)
    this.giveBack(args)
    return true
  }

  /** Memory of inputs, of which the model has copies. V8 has no buffer for the elements of a small array until it is asked for. */
  private giveBack(args: readonly SentArgument[]): void {
    const large = args.filter((each) => each !== null && 'data' in each && each.data.byteLength >= LEAST_BYTES)
    for (const block of buffersOf(large)) this.blocks.giveBack(block)
  }

  /** A model most of whose calls take long goes to workers; single ones are long where the machine has more to do than it can. */
  private noteInline(model: ServedModel, isLong: boolean): void {
    model.inlineCalls++
    if (isLong) model.longCalls++
    if (model.inlineCalls < MANY_CALLS) return
    if (model.longCalls > MANY_CALLS / 2) this.repository.endInline(model)
    model.inlineCalls = model.longCalls = 0
  }

  private enqueue(
    model: ServedModel,
    args: readonly SentArgument[],
    rows: number | null,
    sequence: Sequence | null,
    level: number,
    timeout: number,
    traced: Traced | null,
    began: number,
    settle: Settle,
  ): Running {
    const { queue, queueSize } = model
    if (queue.length >= queueSize || (sequence !== null && model.pending >= queueSize + availableParallelism()))
      throw new RequestError(503, `${queueSize} requests wait for model '${model.name}', which is as many as may`, retryAfter(model))
    const { batching } = model.facts
    const canBatch = batching !== null && rows !== null && sequence === null && args.every((each) => each !== null && 'data' in each)
    const job: Job = {
      model,
      args,
      rows: canBatch ? rows : 1,
      key: canBatch ? keyOf(args) : null,
      level,
      since: began,
      deadline: timeout === Infinity ? Infinity : began + timeout,
      sequence,
      isSettled: false,
      timer: null,
      traced,
      settle: (error, outputs) => {
        if (job.isSettled) return
        job.isSettled = true
        if (job.timer !== null) clearTimeout(job.timer)
        if (error === null) model.statistics.inferenceCount += rows ?? 1
        try {
          settle(error, outputs)
        } finally {
          model.end()
        }
      },
    }
    const { pool } = this.repository
    const giveUp = (error: Error): void => {
      if (job.isSettled) return
      job.settle(error, [])
      pool.release(job)
    }
    if (timeout !== Infinity)
      job.timer = setTimeout(() => giveUp(new RequestError(504, `the request was not answered within ${timeout} ms`)), Math.max(1, timeout))
    model.begin()
    try {
      pool.submit(job)
    } catch (error) {
      job.isSettled = true
      if (job.timer !== null) clearTimeout(job.timer)
      model.end()
      throw error
    }
    return { cancel: () => giveUp(new RequestError(499, 'the client has gone')) }
  }
}

/** Rows of all tensors, where they have as many; null elsewhere. */
function rowsOf(tensors: readonly (NamedTensor | null)[]): number | null {
  const rows = tensors[0]?.shape[0]
  if (rows === undefined || rows === 0) return null
  return tensors.every((each) => each?.shape[0] === rows) ? rows : null
}

/** Requests of one key can be in one batch. */
function keyOf(args: readonly SentArgument[]): string {
  return args.map((each) => `${each!.datatype}:${each!.shape.slice(1).join('x')}`).join()
}

/** Seconds until some of what waits will have been answered. */
function retryAfter({ queue, loaded }: ServedModel): number {
  return Math.max(1, Math.ceil(((loaded?.milliseconds ?? 100) * queue.length) / 2000))
}

/** The protocol has it in microseconds. */
function timeoutOf({ timeout }: Readonly<Record<string, Parameter>>): number {
  if (timeout === undefined || timeout === 0) return Infinity
  if (!Number.isSafeInteger(timeout) || (timeout as number) < 0)
    throw invalid(`expected "timeout" to be a number of microseconds, found ${quoted(timeout)}`)
  return (timeout as number) / 1000
}

function levelOf({ priority }: Readonly<Record<string, Parameter>>): number {
  if (priority === undefined || priority === 0) return USUAL_LEVEL
  if (!Number.isSafeInteger(priority) || (priority as number) < 1 || (priority as number) > LEVELS)
    throw invalid(`expected "priority" to be a number from 1, the first to be served, to ${LEVELS}, found ${quoted(priority)}`)
  return priority as number
}

function sequenceOf(parameters: Readonly<Record<string, Parameter>>, model: ServedModel): Sequence | null {
  const { sequence_id: id, sequence_start: start = false, sequence_end: end = false } = parameters
  const isStateful = model.config.stateful !== null
  if (id === undefined || id === 0 || id === '') {
    if (isStateful) throw invalid(`model '${model.name}' has a state: expected parameter "sequence_id"`)
    return null
  }
  if (!isStateful) throw invalid(`model '${model.name}' has no state that a sequence could have ("stateful" in its config.json)`)
  if (typeof id === 'boolean' || String(id).length > 128)
    throw invalid(`expected "sequence_id" to be a number or a short text, found ${quoted(id)}`)
  if (typeof start !== 'boolean' || typeof end !== 'boolean')
    throw invalid('expected "sequence_start" and "sequence_end" to be true or false')
  const known = model.sequences.has(String(id))
  if (!known && !start) throw invalid(`sequence ${quoted(id)} has not been started, or has ended ("sequence_start")`)
  const { most } = model.config.stateful!
  if (!known && model.sequences.size >= most) throw new RequestError(503, `${most} sequences are under way, which is as many as may`, 1)
  return { id: String(id), start, end }
}

function checkOutputs({ outputs }: InferRequest, known: readonly { readonly name: string }[]): void {
  for (const { name } of outputs!)
    if (!known.some((each) => each.name === name))
      throw invalid(`the model has no output ${quoted(name)}; it gives ${known.map((each) => `'${each.name}'`).join(', ')}`)
}

/** What of a model's results was asked for. */
function answered({ facts, labels }: ServedModel, request: InferRequest, results: readonly NamedResult[]): AnswerOutput[] {
  const known = facts.outputs
  const all = results.map(({ name, value }, i): AnswerOutput => {
    const { datatype, shape } = value
    const data = 'strings' in value ? value.strings : value.data
    return { name: name ?? known?.[i]?.name ?? outputName(undefined, i), datatype, shape, data, binary: request.binaryOutput }
  })
  if (request.outputs === null) return all
  checkOutputs(request, all)
  return request.outputs.map(({ name, binary, classification }) => {
    const tensor = all.find((each) => each.name === name)!
    return { ...(classification > 0 ? classify(tensor, classification, labels) : tensor), binary }
  })
}
