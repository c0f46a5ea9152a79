import type { FunctionCode, OperatorName } from '../../program/code.js'
import { CodeEditor, instruction } from '../../program/code-editor.js'
import { type LinearCall, type LookupCall, matrixCalls, Views } from '../../program/linear-calls.js'
import { linkFunctions } from '../../program/link.js'
import type { Program } from '../../program/program.js'
import { modulesOf } from '../../program/training.js'
import { integersOf, type RoundedIntegers } from '../../runtime/operators/support/rounded-integers.js'
import { _convert_weight_to_int4pack_for_cpu } from '../../runtime/operators/cpu/weight-only.js'
import { BLOCK_NUMBERS, PANEL_ROWS } from '../../runtime/shapes/packed-weight.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { empty, Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'

export type IntegerFormat = 'int8' | 'int4'

/** Numbers of a row that share a scale, of 4 bits. */
export const GROUPS: readonly number[] = [32, 64, 128, 256]

/** A matrix as an operator of PyTorch takes it. */
interface IntegerMatrix {
  readonly format: IntegerFormat
  readonly numbers: Tensor
  readonly scales: Tensor
  /** Scales [n, 1] of a matrix whose rows are looked up, too. */
  readonly column: Tensor | null
}

export interface IntegerWeights {
  readonly functions: readonly FunctionCode[]
  /** Layers of each format, and those that stay as they are. */
  readonly counts: Readonly<Record<IntegerFormat, number>>
}

/**
 * Functions whose linear layers and products with a matrix of the module multiply by matrices of 8 bits with a scale for each row, or of 4 with one for each `group` of a row, by operators that
 * PyTorch has. The matrices, which nothing else reads, take the place of the floats in the module. Matrices whose sizes have no form of 4 bits get 8, and so do those that are an embedding, too.
 *
 *     x, weight, bias                     aten::_weight_int8pack_mm(aten::reshape(x, [-1, k]), weight, scales)
 *     aten::linear                   →    aten::reshape([..., n]), aten::add(bias)
 *     weight, indices                     aten::embedding(weight, indices), aten::embedding(scales, indices)
 *     aten::embedding                →    aten::mul
 */
export function withIntegerWeights({ functions, root, operatorVersion }: Program, format: IntegerFormat, group: number): IntegerWeights {
  const linked = linkFunctions(functions, operatorVersion, new Map())
  const found = matrixCalls(linked, root)
  const calls = found.products.filter((call) => isLarge(sizesOf(call)))
  const looked = new Views<true>()
  for (const { weight } of found.lookups) looked.set(weight, true)
  const matrices = new Views<IntegerMatrix>()
  for (const call of calls) {
    const { weight } = call
    if (matrices.get(weight) === undefined) matrices.set(weight, matrixOf(rowsOf(call), format, group, looked.get(weight) === true))
  }
  const lookups = found.lookups.filter(({ weight }) => matrices.get(weight) !== undefined)
  for (const { slots } of modulesOf(root))
    for (const [i, value] of slots.entries()) slots[i] = (value instanceof Tensor ? matrices.get(value)?.numbers : undefined) ?? value
  const counts = { int8: 0, int4: 0 }
  for (const { weight } of calls) counts[matrices.get(weight)!.format]++
  const changed = linked.map((fn) => {
    const isOwn = (call: LookupCall): boolean => call.fn === fn
    const [own, rows] = [calls.filter(isOwn), lookups.filter(isOwn)]
    return own.length + rows.length === 0 ? fn.source : new Rewriting(fn.source, own, rows, matrices, group).finish()
  })
  return { functions: changed, counts }
}

/** Outputs and inputs. */
function sizesOf({ weight, isTurned }: LinearCall): readonly [number, number] {
  const [first, second] = weight.shape as [number, number]
  return isTurned ? [second, first] : [first, second]
}

/** The matrix with a row for each output. */
function rowsOf(call: LinearCall): Tensor {
  const { weight, isTurned } = call
  return isTurned ? viewOf(weight, sizesOf(call), [...weight.strides].reverse()) : weight
}

/** What `loadModule` rounds, too. */
function isLarge([n, k]: readonly [number, number]): boolean {
  return n >= PANEL_ROWS && k >= BLOCK_NUMBERS && Math.max(n, k) < 2 ** 31
}

function matrixOf(weight: Tensor, wanted: IntegerFormat, group: number, isLookedUp: boolean): IntegerMatrix {
  const [n, k] = weight.shape as [number, number]
  const format = wanted === 'int4' && !isLookedUp && n % 16 === 0 && k % group === 0 ? 'int4' : 'int8'
  const rounded = integersOf(weight, format, format === 'int4' ? group : 0)
  if (format === 'int4') return halves(rounded, n, k, group)
  const matrix = ofRows(rounded, n, k)
  if (!isLookedUp) return { format, ...matrix, column: null }
  const column = viewOf(matrix.scales, [n, 1], [1, 1])
  column.pinned = true
  return { format, ...matrix, column }
}

function ofRows({ integers, scales }: RoundedIntegers, n: number, k: number): Pick<IntegerMatrix, 'numbers' | 'scales'> {
  return { numbers: lasting(integers, [n, k], DType.int8), scales: lasting(scales, [n], DType.float32) }
}

/** Packed for the machine that PyTorch would pack them for here: see int4_form. */
function halves({ integers, scales }: RoundedIntegers, n: number, k: number, group: number): IntegerMatrix {
  const shifted = empty([n, k], DType.int32)
  writeTensor(
    shifted,
    Int32Array.from(integers, (q) => q + 8),
  )
  const numbers = _convert_weight_to_int4pack_for_cpu(shifted, 1)
  shifted.release()
  numbers.pinned = true
  const count = k / group
  // a scale, and what is added to each number, which is nothing
  const pairs = new Float32Array(2 * n * count)
  for (let row = 0; row < n; row++) for (let g = 0; g < count; g++) pairs[2 * (g * n + row)] = scales[row * count + g]!
  return { format: 'int4', numbers, scales: lasting(pairs, [count, n, 2], DType.float32), column: null }
}

function lasting(data: Int8Array | Float32Array, shape: number[], type: DType): Tensor {
  const made = empty(shape, type)
  writeTensor(made, data)
  made.pinned = true
  return made
}

const OPERATORS = {
  reshape: { name: 'aten::reshape', overload: '', argCount: 2 },
  contiguous: { name: 'aten::contiguous', overload: '', argCount: 2 },
  int8: { name: 'aten::_weight_int8pack_mm', overload: '', argCount: 3 },
  int4: { name: 'aten::_weight_int4pack_mm_for_cpu', overload: '', argCount: 4 },
  size: { name: 'aten::size', overload: '', argCount: 1 },
  setItem: { name: 'aten::_set_item', overload: 't', argCount: 3 },
  add: { name: 'aten::add', overload: 'Tensor', argCount: 3 },
  embedding: { name: 'aten::embedding', overload: '', argCount: 5 },
  mul: { name: 'aten::mul', overload: 'Tensor', argCount: 2 },
} as const satisfies Readonly<Record<string, OperatorName>>

/** Of the products that become others. */
const MOST_ARGUMENTS = 5

/** A function's calls as others. */
class Rewriting {
  private readonly editor: CodeEditor
  private readonly input: number

  constructor(
    private readonly source: FunctionCode,
    private readonly calls: readonly LinearCall[],
    private readonly lookups: readonly LookupCall[],
    private readonly matrices: Views<IntegerMatrix>,
    private readonly group: number,
  ) {
    this.editor = new CodeEditor(source)
    this.input = source.registerSize + 1
  }

  finish(): FunctionCode {
    const { calls, lookups, editor, matrices } = this
    editor.mapConstants((value) => (value instanceof Tensor ? matrices.get(value)?.numbers : undefined) ?? value)
    for (const call of calls) editor.replace(call.pc, this.layer(call))
    for (const call of lookups) editor.replace(call.pc, this.rowsOf(call))
    return editor.finish(MOST_ARGUMENTS)
  }

  /** Of the arguments on the stack, without those that have defaults and are left out. */
  private layer(replaced: LinearCall): number[] {
    const { fn, pc, weight, at } = replaced
    const first = this.input
    const { format, scales } = this.matrices.get(weight)!
    const [n, k] = sizesOf(replaced)
    const [input, matrix] = [first + at.input, first + at.matrix]
    const { given } = fn.operators[fn.source.code[3 * pc + 1]!]!
    const call = (name: keyof typeof OPERATORS): number[] => this.editor.call(OPERATORS[name])
    const constant = (value: Value): number[] => this.editor.constant(value)
    return [
      ...instruction('STOREN', first, given),
      ...[...instruction('LOAD', input), ...constant(this.rows(k)), ...call('reshape')],
      ...[...constant(0), ...call('contiguous')],
      ...instruction('MOVE', matrix),
      ...(format === 'int4' ? constant(this.group) : []),
      ...[...constant(scales), ...call(format)],
      ...[...instruction('MOVE', input), ...call('size'), ...constant(-1), ...constant(n), ...call('setItem')],
      ...call('reshape'),
      ...(at.bias !== null ? [...instruction('MOVE', first + at.bias), ...constant(1), ...call('add')] : []),
    ]
  }

  /** Rows of integers, times their scales. */
  private rowsOf({ fn, pc, weight }: LookupCall): number[] {
    const first = this.input
    const { given } = fn.operators[fn.source.code[3 * pc + 1]!]!
    const { column } = this.matrices.get(weight)!
    // without a padding, which matters to gradients alone
    const lookup = [-1, false, false].flatMap((value) => this.editor.constant(value))
    lookup.push(...this.editor.call(OPERATORS.embedding))
    return [
      ...instruction('STOREN', first, given),
      ...[...instruction('MOVE', first), ...instruction('LOAD', first + 1), ...lookup],
      ...[...this.editor.constant(column), ...instruction('MOVE', first + 1), ...lookup],
      ...this.editor.call(OPERATORS.mul),
    ]
  }

  private readonly lists = new Map<number, Value>()

  private rows(k: number): Value {
    const list = this.lists.get(k) ?? [-1, k]
    this.lists.set(k, list)
    return list
  }
}
