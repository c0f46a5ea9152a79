import { rowsFirstStrides } from '../../../runtime/shapes/attention.js'
import { contiguousStrides, isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, onlyResult } from '../analysis.js'
import type { Editor } from '../editor.js'

/** A result of attention of which nothing but copies with heads and rows exchanged are read. */
export interface RowsCopied {
  /** The result with heads and rows exchanged. */
  readonly transposed: ValueId
  /** Dense copies of that, under any shape. */
  readonly copies: readonly OperatorNode[]
}

const COPYING = new Set(['aten::reshape', 'aten::contiguous'])

/** True for operators that copy what they do not show. */
export function isCopying(node: GraphNode): node is OperatorNode {
  return node.kind === 'operator' && COPYING.has(node.op)
}

/** The transposition that is all that becomes of a result, if nothing but copies reads it. */
export function copyOfRows(result: ValueId, analysis: Analysis): RowsCopied | null {
  const exchange = analysis.onlyReader(result)
  const rank = analysis.type(result).shape.length
  const transposed = exchange === undefined ? undefined : onlyResult(exchange)
  if (exchange === undefined || transposed === undefined || !analysis.isPure(exchange) || analysis.isReturned(transposed)) return null
  if (analysis.storage(transposed) !== analysis.storage(result) || analysis.outputs.has(analysis.storage(result))) return null
  const { shape } = analysis.type(result)
  const expected = [...shape.slice(0, rank - 3), shape[rank - 2]!, shape[rank - 3]!, shape[rank - 1]!]
  const strides = contiguousStrides(shape)
  const exchanged = [...strides.slice(0, rank - 3), strides[rank - 2]!, strides[rank - 3]!, strides[rank - 1]!]
  const { shape: found, strides: foundStrides } = analysis.type(transposed)
  if (!sameShape(found, expected) || !sameShape(foundStrides, exchanged)) return null
  const readers = analysis.readersOf(transposed)
  const copies = readers.filter((reader) => isCopy(reader, transposed, analysis))
  return copies.length > 0 && copies.length === readers.length ? { transposed, copies } : null
}

/** True for a dense copy, or a view where there is nothing to copy, that can be read where it is. */
function isCopy(node: GraphNode, of: ValueId, analysis: Analysis): node is OperatorNode {
  const id = onlyResult(node)
  if (!isCopying(node) || id === undefined || inputOf(node) !== of || !analysis.isPure(node)) return false
  const { shape, strides, offset } = analysis.type(id)
  return isContiguous(shape, strides) && offset === 0 && !analysis.outputs.has(analysis.storage(id))
}

/** Gives the result its new layout. What was copied from it is a view of it now, and with it all views of the copy. */
export function writeRowsFirst(result: ValueId, { transposed, copies }: RowsCopied, analysis: Analysis, editor: Editor): void {
  const { shape } = analysis.type(result)
  const storage = analysis.storage(result)
  const strides = rowsFirstStrides(shape.slice(0, -2), shape.at(-2)!, shape.at(-1)!)
  editor.setType(result, { ...analysis.type(result), strides }, storage)
  const type = analysis.type(transposed)
  editor.setType(transposed, { ...type, strides: contiguousStrides(type.shape) }, storage)
  for (const copy of copies) {
    const id = onlyResult(copy)!
    const moved = analysis.storage(id)
    if (moved !== storage) for (const other of analysis.valuesIn(moved)) editor.setType(other, analysis.type(other), storage)
    if (copy.op === 'aten::reshape') continue
    editor.replaceValue(id, transposed)
    editor.replaceNode(copy, [])
  }
}
