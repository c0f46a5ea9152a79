import { calledOperator, findOperator } from '../../../runtime/operators/table/registry.js'
import { isWritten } from '../../../runtime/operators/table/schema.js'
import { DType, itemSize } from '../../../runtime/tensor/dtype.js'
import { isDense } from '../../../runtime/tensor/view-strides.js'
import { extentOf, isContiguous } from '../../../runtime/tensor/shape.js'
import { POINTWISE_OF_ONE } from '../../generated/pointwise.js'
import type { Graph, GraphNode, GraphValue, OperatorNode, TensorType } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, onlyResult } from '../analysis.js'
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
    if (graph.nodes.every(({ writes }) => writes.length === 0)) return graph
    const analysis = analysisOf(graph)
    const storages = storagesOf(graph, analysis)
    const editor = new Editor(graph)
    let changes = false
    for (const [index, node] of graph.nodes.entries()) {
      const functional = functionalForm(node, analysis)
      if (functional === null || !storages.get(analysis.storage(node.writes[0]!))!.split(index)) continue
      editor.replaceNode(node, [functional])
      changes = true
    }
    if (!changes) return graph
    for (const storage of storages.values()) storage.move(editor)
    return editor.finish()
  },
}

/** The node with a new tensor as its result, where that has the values and strides of the one in place. */
function functionalForm(node: GraphNode, analysis: Analysis): OperatorNode | null {
  if (node.kind !== 'operator' || node.writes.length !== 1) return null
  const target = node.writes[0]!
  const type = analysis.type(target)
  const functional = functionalName(node.op, type.dtype)
  if (functional === null || onlyResult(node) === undefined || inputOf(node) !== target) return null
  if (type.offset !== 0 || type.quant !== null || !keepsStrides(functional, type)) return null
  // other operands must not widen or promote the result
  for (const id of usesOf(node)) {
    const other = analysis.type(id)
    if (other.dtype !== type.dtype || other.shape.length > type.shape.length) return null
    if (id !== target && (analysis.storage(id) === analysis.storage(target) || !isContiguous(other.shape, other.strides))) return null
  }
  return { ...node, op: functional, writes: [] }
}

interface SharingValue {
  readonly value: GraphValue
  /** Place of the node that makes it, -1 for inputs and constants. */
  readonly made: number
  /** Place of the last node that reads it: -1 where none does, Infinity for what is returned. */
  readonly read: number
}

/** The values of one memory in the order in which they are made. */
class SharedStorage {
  private readonly values: SharingValue[] = []
  /** Places of nodes whose results begin memory of their own. */
  private readonly splits: number[] = []
  /** The first value that is not among those counted here. */
  private next = 0
  /** Where the last of the values is read that were made since the last split. */
  private lastRead = -1
  /** Bytes up to the end of each value, or of one that is made later. */
  private ends: readonly number[] = []

  constructor(private readonly isGiven: boolean) {}

  add(value: SharingValue): void {
    this.values.push(value)
  }

  /** Gives the node's result, and all that is made later, memory of their own, if what was there before is seen no more behind it. */
  split(index: number): boolean {
    const { values } = this
    if (this.ends.length === 0) {
      let most = 0
      this.ends = values.map((_, i) => (most = Math.max(most, endOf(values.at(-1 - i)!.value)))).reverse()
    }
    for (; values[this.next]!.made < index; this.next++) this.lastRead = Math.max(this.lastRead, values[this.next]!.read)
    if (this.lastRead > index || (this.isGiven && this.splits.length === 0)) return false
    // as_strided shows what lies beyond its tensor
    if (this.ends[this.next]! > endOf(values[this.next]!.value)) return false
    this.splits.push(index)
    this.lastRead = -1
    return true
  }

  /** Puts values where the splits say. */
  move(editor: Editor): void {
    let next = 0
    let storage: number | null = null
    for (const { value, made } of this.values) {
      for (; made >= this.splits[next]!; next++) storage = editor.newStorage()
      if (storage !== null) editor.setType(value.id, value.type, storage)
    }
  }
}

function endOf({ type: { dtype, shape, strides, offset } }: GraphValue): number {
  return (offset + extentOf(shape, strides)) * itemSize(dtype)
}

function storagesOf(graph: Graph, analysis: Analysis): Map<number, SharedStorage> {
  const place = (node: GraphNode | undefined): number => (node === undefined ? -1 : analysis.placeOf(node))
  const values = [...graph.values.values()].map((value) => ({
    value,
    made: place(analysis.producer(value.id)),
    read: analysis.isReturned(value.id) ? Infinity : place(analysis.readersOf(value.id).at(-1)),
  }))
  const storages = new Map<number, SharedStorage>()
  for (const each of values.sort((a, b) => a.made - b.made)) {
    const { storage } = each.value
    if (!storages.has(storage)) storages.set(storage, new SharedStorage(analysis.given.has(storage)))
    storages.get(storage)!.add(each)
  }
  return storages
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
