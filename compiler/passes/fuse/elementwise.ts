import { Limit } from '../../../runtime/native/generated/numbers.js'
import { isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import type { ChainNode } from '../../graph/compiled.js'
import type { Steps } from '../../graph/fields.js'
import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputArg, inputOf, numberArg, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { elementwiseSteps, type StepOperand } from './elementwise-operators.js'
import type { Pass } from '../pass.js'

/**
 * Makes one pass over memory of a chain of element-wise operators on floats of 32 or 16 bits and bools, broadcasting included.
 *
 *     %3: float32[1, 64, 56, 56] @3 = aten::add.Tensor(%1, %2, 1)
 *     %4: float32[1, 64, 56, 56] @4 = aten::relu(%3)               →   %4 = chain(inputs=[%1, %2], size=[1, 64, 56, 56], ops=[0, 19], ...)
 *
 * A result stays in the chain where the next step is all that reads it and has the same shape. The steps use the same functions as
 * the operators: results have the same bits.
 */
export const elementwise: Pass = {
  name: 'element-wise chains',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    const taken = new Set<GraphNode>()
    // from the end, so that a chain is found whole
    for (const node of [...graph.nodes].reverse()) {
      if (taken.has(node) || !canStep(node, analysis)) continue
      const chain = grow(node, analysis, taken)
      if (chain.length < 2) continue
      const inner = chain.slice(0, -1)
      for (const part of chain) taken.add(part)
      for (const part of inner) editor.replaceNode(part, [])
      editor.replaceNode(node, [fuse(chain, analysis)])
    }
    return taken.size === 0 ? graph : editor.finish()
  },
}

/** Steps with a dense result that the kernel can write. */
export function canStep(node: GraphNode, analysis: Analysis): node is OperatorNode {
  const result = onlyResult(node)
  if (node.kind !== 'operator' || result === undefined || !analysis.isPure(node) || elementwiseSteps(node, analysis) === null) return false
  const { shape, strides } = analysis.type(result)
  return shape.length <= Limit.FUSED_DIMS && numelOf(shape) > 0 && isContiguous(shape, strides)
}

/** The steps that end in `last`, in order. */
function grow(last: OperatorNode, analysis: Analysis, taken: ReadonlySet<GraphNode>): OperatorNode[] {
  const shape = analysis.type(onlyResult(last)!).shape
  const chain = new Set([last])
  const pending = [last]
  while (pending.length > 0) {
    for (const arg of pending.pop()!.args) {
      const id = valueArg(arg)
      const producer = id === undefined ? undefined : analysis.producer(id)
      if (id === undefined || producer === undefined || taken.has(producer)) continue
      if (!canStep(producer, analysis) || chain.has(producer) || !sameShape(analysis.type(id).shape, shape)) continue
      if (analysis.isReturned(id) || !analysis.readersOf(id).every((reader) => (chain as ReadonlySet<GraphNode>).has(reader))) continue
      chain.add(producer)
      if (countSteps(chain, analysis) > Limit.CHAIN_STEPS || inputsOf(chain, analysis).length > Limit.CHAIN_INPUTS) chain.delete(producer)
      else pending.push(producer)
    }
  }
  return [...chain].sort((a, b) => analysis.placeOf(a) - analysis.placeOf(b))
}

function countSteps(chain: Iterable<OperatorNode>, analysis: Analysis): number {
  let count = 0
  for (const node of chain) count += elementwiseSteps(node, analysis)!.length
  return count
}

/** Tensors that come from outside of the chain. */
function inputsOf(chain: Iterable<OperatorNode>, analysis: Analysis): ValueId[] {
  const inside = new Set([...chain].map((node) => onlyResult(node)!))
  const inputs = new Set<ValueId>()
  const note = (arg: StepOperand | null | undefined): void => {
    if (arg?.kind === 'value' && !inside.has(arg.id)) inputs.add(arg.id)
  }
  for (const node of chain) {
    const steps = elementwiseSteps(node, analysis)!
    if (steps.length === 0) note(inputArg(node))
    for (const { a, b } of steps) [a, b].forEach(note)
  }
  return [...inputs]
}

/** Steps and what they read: values are inputs first, then results of steps. */
export interface Chain extends Steps {
  readonly inputs: readonly ValueId[]
}

/** The chain as one node. */
export function fuse(chain: readonly OperatorNode[], analysis: Analysis): ChainNode {
  const last = chain.at(-1)!
  const { shape, dtype } = analysis.type(onlyResult(last)!)
  const steps = encode(chain, analysis)
  return { ...baseOf(last), kind: 'chain', ...steps, size: shape, kept: [steps.ops.length - 1], dtypes: [dtype] }
}

/** The steps of nodes that follow each other. */
export function encode(chain: readonly OperatorNode[], analysis: Analysis): Chain {
  const inputs = inputsOf(chain, analysis)
  const places = new Map<ValueId, number>(inputs.map((id, i) => [id, i]))
  const ops: number[] = []
  const values: number[] = []
  const numbers: number[] = []
  for (const node of chain) {
    const first = inputs.length + ops.length
    const steps = elementwiseSteps(node, analysis)!
    for (const { op, a, b, numbers: own } of steps) {
      const pair: [number, number] = own === null ? [0, 0] : [own[0], own[1]]
      const code = (arg: StepOperand | null, i: 0 | 1): number => {
        if (arg?.kind === 'value') return places.get(arg.id)!
        if (arg?.kind === 'step') return first + arg.index
        if (arg !== null) pair[i] = numberArg(arg)!
        return -1 - i
      }
      values.push(code(a, 0), code(b, 1))
      ops.push(op)
      numbers.push(...pair)
    }
    // a cast that widens is its argument
    const result = onlyResult(node)!
    places.set(result, steps.length === 0 ? places.get(inputOf(node)!)! : inputs.length + ops.length - 1)
  }
  return { inputs, ops, values, numbers }
}
