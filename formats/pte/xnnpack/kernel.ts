import { damaged } from '../../../program/file-error.js'
import type { FilePart } from '../../containers/file-part.js'
import type { ValueBudget } from '../../containers/value-budget.js'
import type { ProgramData } from '../data.js'
import type { Kernel } from '../kernel.js'
import { elementCount } from '../plan.js'
import { type GraphValue, readGraph } from './graph.js'
import { writeNode } from './nodes.js'
import { DelegateValues } from './values.js'

/** The name of the backend. */
export const XNNPACK = 'XnnpackBackend'

/** What serves a delegate, and the kinds of its graph's nodes. */
export interface DelegateKernel extends Kernel {
  readonly nodes: readonly string[]
}

/** What serves the calls of a delegate: its graph as operators. `scope` tells its own constants from those of others. */
export function xnnpackKernel(payload: FilePart, data: ProgramData, budget: ValueBudget, scope: string): DelegateKernel {
  const graph = readGraph(payload, data, budget)
  const { inputs, outputs } = DelegateValues.externals(graph)
  const at = ({ external }: GraphValue, args: readonly number[]): number => {
    const argument = args[external]
    if (argument === undefined) throw damaged(`the delegate has argument ${external}; it is called with ${args.length}`)
    return argument
  }
  return {
    nodes: graph.nodes.map(({ kind }) => kind),
    elements: [...graph.values.values()].reduce((sum, { dims }) => sum + elementCount(dims), 0),
    effects: (args) => ({ reads: inputs.map((input) => at(input, args)), writes: outputs.map((output) => at(output, args)) }),
    emit(args, emitter) {
      const values = new DelegateValues(graph, emitter, scope, new Map(outputs.map((output) => [output.id, at(output, args)])))
      for (const input of inputs) values.take(input, at(input, args))
      for (const node of graph.nodes) writeNode(node, values)
      for (const output of outputs) values.give(output, at(output, args))
    },
  }
}
