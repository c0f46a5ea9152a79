import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { viewOf } from '../../../runtime/tensor/tensor.js'
import { type Arg, constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import type { Pass } from '../pass.js'
import { views } from './views.js'

/**
 * Moves permutations behind element-wise operators whose results are permuted, as between the linear layers of a network on images
 * whose tensors have their channels last: there they meet the permutation back, and both go. What remains are steps with dense
 * results, which go into the layer before them.
 *
 *     %2: float32[1, 96, 56, 56] strides [301056, 1, 5376, 96] @1 = aten::permute(%1, [0, 3, 1, 2])
 *     %3: float32[1, 96, 56, 56] strides [301056, 1, 5376, 96] @3 = aten::mul.Tensor(%2, %c)          (%c: [96, 1, 1])
 *     %4: float32[1, 56, 56, 96] @3 = aten::permute(%3, [0, 2, 3, 1])          →   %4: float32[1, 56, 56, 96] @3 = aten::mul.Tensor(%1, %d)
 */
export const permutedSteps: Pass = {
  name: 'permuted steps',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const order = orderOf(node, analysis)
      if (order === null) continue
      editor.replaceNode(node, turned(node, order, analysis, editor))
      changed = true
    }
    return changed ? views.run(editor.finish()) : graph
  },
}

/** Dimensions in the order in which a permuted result of an element-wise operator lies in memory; null for other nodes. */
function orderOf(node: OperatorNode, analysis: Analysis): readonly number[] | null {
  const result = onlyResult(node)
  if (elementwiseSteps(node, analysis) === null || result === undefined || !analysis.isPure(node)) return null
  const { dtype, shape, strides, offset } = analysis.type(result)
  if (dtype !== DType.float32 || offset !== 0 || shape.includes(0) || isContiguous(shape, strides)) return null
  if (analysis.outputs.has(analysis.storage(result))) return null
  const order = shape.map((_, d) => d).sort((a, b) => strides[b]! - strides[a]! || a - b)
  const dense = contiguousStrides(order.map((d) => shape[d]!))
  if (order.some((d, i) => strides[d] !== dense[i])) return null
  const operands = node.args.filter((arg) => arg.kind === 'value').map(({ id }) => id)
  const fits = operands.every((id) => analysis.type(id).dtype === DType.float32 && (isFull(id, shape, analysis) || isLow(id, analysis)))
  // something has to lie in this order already
  return fits && operands.some((id) => sameShape(analysis.type(id).strides, strides)) ? order : null
}

const isFull = (id: ValueId, shape: readonly number[], analysis: Analysis): boolean => analysis.type(id).shape.length === shape.length

const isLow = (id: ValueId, analysis: Analysis): boolean => analysis.tensor(id) !== undefined

/** The operator on permuted operands, and the permutation of its result. */
function turned(node: OperatorNode, order: readonly number[], analysis: Analysis, editor: Editor): OperatorNode[] {
  const result = onlyResult(node)!
  const type = analysis.type(result)
  const nodes: OperatorNode[] = []
  const permute = (id: ValueId): ValueId => {
    const { shape, strides, ...rest } = analysis.type(id)
    if (!isFull(id, type.shape, analysis)) return constantOfRank(id, order, analysis, editor)
    const [sizes, steps] = [order.map((d) => shape[d]!), order.map((d) => strides[d]!)]
    const to = editor.newValue({ ...rest, shape: sizes, strides: steps }, analysis.storage(id))
    nodes.push({
      kind: 'operator',
      op: 'aten::permute',
      args: [value(id), constant([...order])],
      results: [{ kind: 'value', id: to }],
      writes: [],
      origin: node.origin,
    })
    return to
  }
  const args = node.args.map((arg): Arg => (valueArg(arg) === undefined ? arg : value(permute(valueArg(arg)!))))
  const shape = order.map((d) => type.shape[d]!)
  const dense = editor.newValue({ ...type, shape, strides: contiguousStrides(shape) }, analysis.storage(result))
  const back = order.map((_, d) => order.indexOf(d))
  return [
    ...nodes,
    { ...node, args, results: [{ kind: 'value', id: dense }] },
    { ...node, op: 'aten::permute', args: [value(dense), constant(back)] },
  ]
}

/** A constant of fewer dimensions, with ones in front of them, in another order. */
function constantOfRank(id: ValueId, order: readonly number[], analysis: Analysis, editor: Editor): ValueId {
  const tensor = analysis.tensor(id)!
  const lead = order.length - tensor.dim
  const at = (list: readonly number[], none: number): number[] => order.map((d) => (d < lead ? none : list[d - lead]!))
  const view = viewOf(tensor, at(tensor.shape, 1), at(tensor.strides, 0))
  view.pinned = true
  return editor.addConstant(view, `${analysis.nameOf(id)}, permuted`)
}
