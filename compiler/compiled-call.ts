import { visitTensors } from '../runtime/interpreter/lifetime.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Call } from './call.js'
import { capture } from './capture/capture.js'
import { buildPlan, type Plan } from './executor/plan.js'
import { GraphRunner } from './graph/execute.js'
import type { Graph } from './graph/graph.js'
import { placeCopies } from './memory/placement.js'
import type { PassOptions } from './passes/pass.js'
import { optimize } from './passes/pipeline.js'

/** A graph ready to be run in place of the method it was recorded from. */
export class CompiledCall implements Call {
  constructor(
    private readonly graph: Graph,
    private readonly runner: GraphRunner,
    /** The captured run; null where it cannot be captured, and operators are called one by one. */
    readonly plan: Plan | null,
    /** Why there is no plan; null for plans. */
    readonly reason: string | null,
  ) {}

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

  run(inputs: readonly Tensor[]): Value {
    const { plan } = this
    // arguments that share memory in another way than when the plan was made
    if (plan === null || !plan.accepts(inputs)) return this.runner.run(inputs)
    return plan.run(inputs)
  }

  /** As `run`; tensors of the result are released when they are dropped, where a plan makes them. */
  runInside(inputs: readonly Tensor[]): Value {
    const { plan } = this
    return plan?.accepts(inputs) === true ? plan.runInside(inputs) : this.runner.run(inputs)
  }

  runAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<Value> | null {
    const { plan } = this
    return plan?.accepts(inputs) === true ? plan.runAsync(inputs, signal) : null
  }

  dispose(): void {
    this.plan?.dispose()
    releaseConstants(this.graph)
  }
}

/**
 * Optimizes a recorded graph, runs it once on `inputs`, comparing the type of every value with what the passes said, and
 * captures a second run. `result` is that of the last run. Throws where the passes were wrong.
 */
export function compileCall(
  recorded: Graph,
  inputs: readonly Tensor[],
  options?: PassOptions,
): { readonly call: CompiledCall; readonly result: Value } {
  const graph = optimize(recorded, undefined, options)
  try {
    const runner = new GraphRunner(graph)
    releaseResult(runner.run(inputs, true), graph, inputs)
    const { value: result, ...found } = capture(
      () => runner.run(inputs),
      inputs,
      () => runner.label(),
    )
    if (found.captured === null) return { call: new CompiledCall(graph, runner, null, found.reason), result }
    const plan = buildPlan(placeCopies(found.captured))
    const call = typeof plan === 'string' ? new CompiledCall(graph, runner, null, plan) : new CompiledCall(graph, runner, plan, null)
    return { call, result }
  } catch (error) {
    releaseConstants(graph)
    throw error
  }
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
