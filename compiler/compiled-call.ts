import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import type { Graph } from './graph/graph.js'
import { GraphRunner } from './graph/execute.js'
import { optimize } from './passes/pipeline.js'

/** A graph ready to be run in place of the method it was recorded from. */
export interface CompiledCall {
  readonly graph: Graph
  /** How it runs: operator by operator, or as one captured plan. */
  readonly kind: 'operators' | 'plan'
  /** Why it is not a plan; null for plans. */
  readonly reason: string | null
  run(inputs: readonly Tensor[]): Value
  /** Gives back what was made for it. */
  dispose(): void
}

/**
 * Optimizes a recorded graph and runs it once on `inputs`, comparing the type of every value with what the passes said.
 * Throws where they were wrong.
 */
export function compileGraph(recorded: Graph, inputs: readonly Tensor[]): { readonly call: CompiledCall; readonly result: Value } {
  const graph = optimize(recorded)
  const runner = new GraphRunner(graph)
  const dispose = (): void => {
    for (const c of graph.constants) if (c.derived) c.tensor.release()
  }
  try {
    const result = runner.run(inputs, true)
    return { call: { graph, kind: 'operators', reason: null, run: (given) => runner.run(given), dispose }, result }
  } catch (error) {
    dispose()
    throw error
  }
}
