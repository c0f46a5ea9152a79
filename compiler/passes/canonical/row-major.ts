import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, isContiguous } from '../../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { hasViews } from './copies.js'
import { Editor } from '../editor.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import type { Pass } from '../pass.js'

/** Operators that need rows of their input dense, and copy what is not. */
const OF_ROWS = new Set(['aten::layer_norm', 'aten::rms_norm', 'aten::linear'])

/**
 * Sums and the like keep the order of dimensions that a permuted operand brings along, as behind a convolution whose channels become
 * the columns of a transformer. Where only operators on rows read them, the operand is copied once instead of each result.
 *
 *     %1: float32[1, 100, 256] strides [25600, 1, 100] @0 = aten::permute(%0, [0, 2, 1])
 *     %3: float32[1, 100, 256] strides [25600, 1, 100] @3 = aten::add.Tensor(%1, %2, 1)
 *     %4 = aten::layer_norm(%3, ...)                                           →   %5: float32[1, 100, 256] @5 = aten::contiguous(%1, 0)
 *                                                                                  %3: float32[1, 100, 256] @3 = aten::add.Tensor(%5, %2, 1)
 */
export const rowMajor: Pass = {
  name: 'row-major sums',
  run(graph) {
    const analysis = analysisOf(graph)
    const sums = permutedSums(analysis)
    if (sums.size === 0) return graph
    const editor = new Editor(graph)
    const dense = (id: ValueId): boolean => {
      const { shape, strides } = editor.typeOf(id)
      return isContiguous(shape, strides)
    }
    const copies = new Map<ValueId, ValueId>()
    for (const node of operatorsOf(graph)) {
      if (!sums.has(node)) continue
      const made: OperatorNode[] = []
      const rows = (arg: Arg): Arg => {
        const id = valueArg(arg)
        if (id === undefined || dense(id)) return arg
        if (!copies.has(id)) {
          const copy = editor.newValue(rowMajorType(editor.typeOf(id)))
          copies.set(id, copy)
          const results = [{ kind: 'value', id: copy }] as const
          made.push({ kind: 'operator', op: 'aten::contiguous', args: [value(id), constant(0)], results, writes: [], origin: node.origin })
        }
        return value(copies.get(id)!)
      }
      const args = node.args.map(rows)
      const result = onlyResult(node)!
      editor.setType(result, rowMajorType(editor.typeOf(result)), editor.storageOf(result))
      editor.replaceNode(node, [...made, { ...node, args }])
    }
    return editor.finish()
  },
}

const rowMajorType = (type: TensorType): TensorType => ({ ...type, strides: contiguousStrides(type.shape), offset: 0 })

/** Element-wise nodes with permuted results, which only one another and operators on rows read. */
function permutedSums(analysis: Analysis): Set<GraphNode> {
  const sums = new Set<GraphNode>(operatorsOf(analysis.graph).filter((node) => isPermutedSum(node, analysis)))
  const wantsRows = (node: GraphNode): boolean => {
    const result = onlyResult(node)
    if (node.kind !== 'operator' || !OF_ROWS.has(node.op) || result === undefined || !analysis.isPure(node)) return false
    const { shape, strides } = analysis.type(result)
    return isContiguous(shape, strides)
  }
  for (let before = -1; before !== sums.size;) {
    before = sums.size
    for (const node of sums) {
      const readers = analysis.readersOf(onlyResult(node)!)
      if (!readers.every((reader) => sums.has(reader) || wantsRows(reader))) sums.delete(node)
    }
  }
  // what nothing reads in the end is dead code
  return new Set([...sums].filter((node) => analysis.readersOf(onlyResult(node)!).length > 0))
}

function isPermutedSum(node: OperatorNode, analysis: Analysis): boolean {
  const result = onlyResult(node)
  if (elementwiseSteps(node, analysis) === null || result === undefined || !analysis.isPure(node)) return false
  const { dtype, shape, strides } = analysis.type(result)
  if (dtype !== DType.float32 || isContiguous(shape, strides) || shape.includes(0)) return false
  if (analysis.outputs.has(analysis.storage(result)) || hasViews(result, analysis)) return false
  return usesOf(node).every((id) => analysis.type(id).dtype === DType.float32)
}
