import { calledOperator, findOperator } from '../../../runtime/operators/table/registry.js'
import { isWritten } from '../../../runtime/operators/table/schema.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { isDense } from '../../../runtime/tensor/view-strides.js'
import { isContiguous } from '../../../runtime/tensor/shape.js'
import { POINTWISE_OF_ONE } from '../../generated/pointwise.js'
import { definitionsOf, type Graph, type OperatorNode, type TensorType, type ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { Analysis, inputOf, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Replaces operators that work in place by those that make a new tensor, where nobody else looks at the memory.
 *
 *     %2: float32[8] @2 = aten::mm(%0, %1)          %2: float32[8] @2 = aten::mm(%0, %1)
 *     %3: float32[8] @2 = aten::relu_(%2!)     →    %3: float32[8] @3 = aten::relu(%2)
 *
 * All later passes leave memory that is written to alone; this one makes it rare. The planner of memory puts both values
 * into one place again.
 */
export const functionalize: Pass = {
  name: 'functionalize',
  run(graph) {
    let current = graph
    for (const node of operatorsOf(graph)) {
      if (node.writes.length > 0) current = replaceInPlace(current, node) ?? current
    }
    return current
  },
}

function replaceInPlace(graph: Graph, original: OperatorNode): Graph | null {
  const index = graph.nodes.indexOf(original)
  if (index < 0) return null
  const node = graph.nodes[index]!
  if (node.kind !== 'operator') return null
  const analysis = new Analysis(graph)
  const target = node.writes[0]!
  const result = onlyResult(node)
  const functional = functionalName(node.op, analysis.type(target).dtype)
  if (functional === null || node.writes.length !== 1 || result === undefined || inputOf(node) !== target) return null
  const type = analysis.type(target)
  const storage = analysis.storage(target)
  if (type.offset !== 0 || type.quant !== null || !keepsStrides(functional, type) || analysis.given.has(storage)) return null
  // other operands must not widen or promote the result
  for (const id of usesOf(node)) {
    const other = analysis.type(id)
    if (other.dtype !== type.dtype || other.shape.length > type.shape.length) return null
    if (id !== target && (analysis.storage(id) === storage || !isContiguous(other.shape, other.strides))) return null
  }
  // the memory is seen through this value alone from here on
  const later = graph.nodes.slice(index + 1)
  const seenLater = new Set<ValueId>(later.flatMap((n) => [...usesOf(n)]))
  for (const value of graph.values.values()) {
    if (value.storage !== storage || value.id === result) continue
    if (analysis.isReturned(value.id)) return null
    // a view made later of the result is fine, one made before is not
    const madeLater = later.some((n) => definitionsOf(n).includes(value.id))
    if (!madeLater && seenLater.has(value.id)) return null
  }
  const editor = new Editor(graph)
  const moved = editor.newStorage()
  for (const value of graph.values.values()) {
    if (value.storage !== storage) continue
    if (value.id === result || later.some((n) => definitionsOf(n).includes(value.id))) editor.setType(value.id, value.type, moved)
  }
  editor.replaceNode(node, [{ ...node, op: functional, writes: [] }])
  return editor.finish()
}

/** True where the result of an operator on a tensor of this type has its strides. */
function keepsStrides(op: string, { shape, strides }: TensorType): boolean {
  return isContiguous(shape, strides) || (POINTWISE_OF_ONE.has(op) && isDense(shape, strides))
}

/** Operators in place whose functional overloads have other names. */
const RENAMED: Readonly<Record<string, string>> = {
  'aten::pow_.Scalar': 'aten::pow.Tensor_Scalar',
  'aten::pow_.Tensor': 'aten::pow.Tensor_Tensor',
  'aten::float_power_.Scalar': 'aten::float_power.Tensor_Scalar',
  'aten::float_power_.Tensor': 'aten::float_power.Tensor_Tensor',
  'aten::floor_divide_.Tensor': 'aten::floor_divide',
  'aten::ldexp_': 'aten::ldexp.Tensor',
}

/** Operators that give bools of whatever numbers; in place these are numbers. */
const COMPARING =
  /^aten::(eq|ne|lt|le|gt|ge|not_equal|less|less_equal|greater|greater_equal|logical_and|logical_or|logical_xor|logical_not)_$/

/** `aten::add.Tensor` for `aten::add_.Tensor`, where it takes the same arguments, and gives the same of a tensor of this dtype. */
export function functionalName(op: string, dtype: DType): string | null {
  const [name, overload] = op.split('.') as [string, string | undefined]
  if (!name.endsWith('_') || name.endsWith('__') || (COMPARING.test(name) && dtype !== DType.bool)) return null
  const functional = RENAMED[op] ?? (overload === undefined ? name.slice(0, -1) : `${name.slice(0, -1)}.${overload}`)
  const found = calledOperator(functional)
  const given = findOperator(op)!.schema.arguments
  if (found === undefined || found.schema.returns.length !== 1) return null
  const args = found.schema.arguments
  if (args.length !== given.length || args.some((arg, i) => arg.type !== given[i]!.type || isWritten(arg))) return null
  return functional
}
