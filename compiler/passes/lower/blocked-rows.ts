import { contiguousStrides, isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import type { GraphNode, TensorType, ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, onlyResult, valueArg } from '../analysis.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'

/** A view of [n, c, h, w] that shows its pixels as rows of channels: [n, h, w, c] or [n, h * w, c]. */
export interface RowsView {
  readonly value: ValueId
  readonly shape: readonly number[]
}

/** Who reads a value as rows of channels, and whether anyone reads it in another way. */
export interface RowReaders {
  readonly views: readonly RowsView[]
  /** Nodes that only lead to these views. */
  readonly nodes: readonly GraphNode[]
  readonly others: boolean
}

/** Operators that give the same dense result for their first operand, whatever layout it has. */
const OF_ROWS = new Set(['aten::layer_norm', 'aten::linear', 'aten::matmul'])

/**
 * What becomes of a value [n, c, h, w] outside of a region of blocks: views that permute it into rows of channels, for which it
 * need not be put into planes first.
 */
export function rowReaders(id: ValueId, outside: readonly GraphNode[], analysis: Analysis): RowReaders {
  const { shape } = analysis.type(id)
  // volumes leave as they are
  if (shape.length !== 4) return { views: [], nodes: [], others: outside.length > 0 || analysis.isReturned(id) }
  const [batch, channels, height, width] = shape as [number, number, number, number]
  const steps = { image: channels * height * width, pixel: 1, channel: height * width }
  const isRowsType = ({ shape, strides, offset }: TensorType): boolean => {
    if (channels === 1 || height * width === 1 || offset !== 0) return false
    const wanted = [
      { shape: [batch, height, width, channels], strides: [steps.image, width, steps.pixel, steps.channel] },
      { shape: [batch, height * width, channels], strides: [steps.image, steps.pixel, steps.channel] },
    ]
    return wanted.some((rows) => sameShape(shape, rows.shape) && shape.every((size, d) => size === 1 || strides[d] === rows.strides[d]))
  }
  const views: RowsView[] = []
  const nodes: GraphNode[] = []
  let others = analysis.isReturned(id)
  for (const reader of outside) {
    const branch = branchOf(reader, id, isRowsType, analysis)
    if (branch === null) others = true
    else {
      views.push(...branch.views)
      nodes.push(...branch.nodes)
    }
  }
  return { views, nodes, others }
}

type Branch = Pick<RowReaders, 'views' | 'nodes'>

/** The views that a view leads to, if all that becomes of it are rows. */
function branchOf(node: GraphNode, from: ValueId, isRowsType: (type: TensorType) => boolean, analysis: Analysis): Branch | null {
  const value = onlyResult(node)
  if (node.kind !== 'operator' || value === undefined || !analysis.isPure(node) || analysis.isReturned(value)) return null
  if (analysis.storage(value) !== analysis.storage(from) || node.args.slice(1).some((arg) => arg.kind !== 'constant')) return null
  const readers = analysis.readersOf(value)
  if (readers.length === 0) return null
  if (isRowsType(analysis.type(value))) {
    const copies = readers.map((reader) => denseCopy(reader, value, analysis))
    if (!readers.every((reader, i) => copies[i] !== undefined || acceptsDense(reader, value, analysis))) return null
    const { shape } = analysis.type(value)
    const copied = copies.flatMap((copy) => (copy === undefined ? [] : [{ value: copy, shape }]))
    return { views: [{ value, shape }, ...copied], nodes: [node, ...readers.filter((_, i) => copies[i] !== undefined)] }
  }
  const branches = readers.map((reader) => branchOf(reader, value, isRowsType, analysis))
  if (branches.includes(null)) return null
  return { views: branches.flatMap((b) => b!.views), nodes: [node, ...branches.flatMap((b) => b!.nodes)] }
}

/** The result of a node that only copies a value into rows. */
function denseCopy(node: GraphNode, from: ValueId, analysis: Analysis): ValueId | undefined {
  const result = onlyResult(node)
  if (node.op !== 'aten::contiguous' || result === undefined || inputOf(node) !== from || !analysis.isPure(node)) return undefined
  const { shape, strides } = analysis.type(result)
  const same = sameShape(shape, analysis.type(from).shape) && sameShape(strides, contiguousStrides(shape))
  return same && !analysis.outputs.has(analysis.storage(result)) ? result : undefined
}

/** True where a node gives a result of the same type for a dense operand. */
function acceptsDense(node: GraphNode, id: ValueId, analysis: Analysis): boolean {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node) || node.kind !== 'operator') return false
  const isDense = (value: ValueId): boolean => isContiguous(analysis.type(value).shape, analysis.type(value).strides)
  if (analysis.storage(result) === analysis.storage(id) || !isDense(result)) return false
  const values = node.args.map(valueArg)
  if (OF_ROWS.has(node.op)) return values[0] === id && !values.slice(1).includes(id)
  return elementwiseSteps(node, analysis) !== null && values.every((value) => value === undefined || value === id || isDense(value))
}
