import { visitTensors } from '../program/reach.js'
import type { Limits } from '../runtime/limits.js'
import * as features from '../runtime/features.js'
import { asCompilation, currentBudget } from '../runtime/native/budget.js'
import { isRounded, isRoundedFilter } from '../runtime/operators/support/rounded-weight.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Call } from './call.js'
import { capture } from './capture/capture.js'
import { isTotal, mayFailMidway } from './capture/total-frames.js'
import { UndoLog, drawsRandom, writtenInputs } from './undo-log.js'
import { buildPlan, type Plan } from './executor/plan.js'
import { GraphRunner, labelOf } from './graph/execute.js'
import type { Graph } from './graph/graph.js'
import { checkedFirst } from './index-checks.js'
import { elideCopies } from './memory/copy-elision.js'
import type { PassOptions } from './passes/pass.js'
import { optimize } from './passes/pipeline.js'
import { inputsToKeep, keepsOrder } from './repeatable.js'

/** A graph ready to be run in place of the method it was recorded from. */
export class CompiledCall implements Call {
  private readonly draws: boolean
  /** It writes to inputs so that what they held has to be put back where it fails, or draws random numbers. */
  private readonly changes: boolean
  /** The plan can fail after that. */
  private readonly riskyPlan: boolean

  constructor(
    private readonly graph: Graph,
    private readonly runner: GraphRunner,
    /** The captured run; null where it cannot be captured, and operators are called one by one. */
    readonly plan: Plan | null,
    /** Why there is no plan; null for plans. */
    readonly reason: string | null,
    /** Inputs whose contents are put back where it fails: see inputsToKeep. */
    readonly kept: readonly number[],
  ) {
    this.draws = drawsRandom(graph)
    this.changes = this.draws || kept.length > 0
    this.riskyPlan = plan !== null && this.changes && mayFailMidway(plan.captured, kept)
  }

  get operators(): number {
    return this.graph.nodes.length
  }

  get choices(): readonly string[] {
    return this.graph.nodes.flatMap(({ note }) => note ?? [])
  }

  constants(): Storage[] {
    // a graph that is run operator by operator reads what it names
    const { plan } = this
    return plan === null ? this.graph.constants.map((c) => c.tensor.storage) : plan.captured.constants.map((c) => c.storage)
  }

  /** Whatever a plan cannot take the graph does. */
  accepts(): boolean {
    return true
  }

  /** Where it fails, inputs that it writes to are as they were, or as a repetition writes to them. `outside`: see `Plan.run`. */
  run(inputs: readonly Tensor[], outside = true): Value {
    const { plan } = this
    // arguments that share memory in another way than when the plan was made
    if (plan === null || !plan.accepts(inputs) || haveRounded(inputs))
      return this.guarded(inputs, this.changes, () => this.runner.run(inputs, false, outside))
    // any kernel may be ended by a deadline
    const risky = this.riskyPlan || (this.changes && currentBudget().clocked)
    return this.guarded(inputs, risky, () => plan.run(inputs, outside))
  }

  private guarded(inputs: readonly Tensor[], risky: boolean, run: () => Value): Value {
    if (!risky) return run()
    const before = new UndoLog(
      this.kept.map((i) => inputs[i]!),
      this.draws,
    )
    try {
      return run()
    } catch (error) {
      before.restore()
      throw error
    }
  }

  runAsync(inputs: readonly Tensor[], signal?: AbortSignal, limits?: Limits): Promise<Value> | null {
    const { plan } = this
    // the generator is that of this thread
    if (this.draws || plan?.accepts(inputs) !== true || haveRounded(inputs)) return null
    return plan.runAsync(inputs, signal, limits, this.kept)
  }

  dispose(): void {
    this.plan?.dispose()
    releaseConstants(this.graph)
  }
}

/** Whether products round one of these. The kernels of a plan have a weight's floats, or what it was packed to when the plan was made. */
export function haveRounded(inputs: readonly Tensor[]): boolean {
  return features.rounding && inputs.some((t) => isRounded(t) || isRoundedFilter(t))
}

/**
 * Optimizes a recorded graph, runs it once on `inputs`, comparing the type of every value with what the passes said, and
 * captures a second run. `result` is that of the last run (`outside`: see `Plan.run`), and inputs that are written to are so once. Throws where the passes were
 * wrong, with inputs as they were.
 */
export function compileCall(
  recorded: Graph,
  inputs: readonly Tensor[],
  options?: PassOptions,
  outside = true,
): { readonly call: CompiledCall; readonly result: Value } {
  return asCompilation(() => compileGraph(recorded, inputs, options, outside))
}

function compileGraph(
  recorded: Graph,
  inputs: readonly Tensor[],
  options: PassOptions | undefined,
  outside: boolean,
): { readonly call: CompiledCall; readonly result: Value } {
  const graph = inOrder(optimize(recorded, undefined, options), recorded)
  const draws = drawsRandom(graph)
  const before = new UndoLog(
    writtenInputs(graph).map((i) => inputs[i]!),
    draws,
  )
  try {
    const runner = new GraphRunner(graph)
    releaseResult(runner.run(inputs, true), graph, inputs)
    before.restore()
    const { value: result, ...found } = haveRounded(inputs)
      ? {
          value: runner.run(inputs, false, outside),
          captured: null,
          reason: 'a matrix that products round may be another one in the next call',
        }
      : capture(() => runner.run(inputs, false, outside), inputs, {
          label: () => runner.label(),
          draws,
          putBack: () => before.restore(),
          given: graph.constants.flatMap((c) => (c.derived ? [] : [c.tensor])),
        })
    const risky = new Set(found.captured?.frames.flatMap((frame) => (isTotal(frame) ? [] : [frame.label])))
    const kept = inputsToKeep(graph, recorded, (node) => found.captured === null || risky.has(labelOf(node)))
    if (found.captured === null) return { call: new CompiledCall(graph, runner, null, found.reason, kept), result }
    const plan = buildPlan(elideCopies(found.captured))
    const [made, reason] = typeof plan === 'string' ? [null, plan] : [plan, null]
    const call = new CompiledCall(graph, runner, made, reason, kept)
    return { call, result }
  } catch (error) {
    before.restore()
    releaseConstants(graph)
    throw error
  }
}

/** Where updates of inputs come before checks of others that they came after, these are made first. */
function inOrder(graph: Graph, recorded: Graph): Graph {
  return keepsOrder(graph, recorded, (node) => node.kind === 'operator' && node.op === 'aten::index_put_') ? graph : checkedFirst(graph)
}

function releaseConstants(graph: Graph): void {
  for (const c of graph.constants) if (c.derived) c.tensor.release()
}

/** Releases a result that nobody will see, but for arguments and constants in it. */
function releaseResult(result: Value, graph: Graph, inputs: readonly Tensor[]): void {
  visitTensors(result, (t) => {
    if (!inputs.includes(t) && !graph.constants.some((c) => c.tensor === t)) t.release()
  })
}
