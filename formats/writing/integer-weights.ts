import type { FunctionCode, OperatorName } from '../../program/code.js'
import { type LinearCall, linearCalls } from '../../program/linear-calls.js'
import { linkFunctions } from '../../program/link.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import type { Program } from '../../program/program.js'
import { modulesOf } from '../../program/training.js'
import { integersOf, type RoundedIntegers } from '../../runtime/operators/support/rounded-integers.js'
import { _convert_weight_to_int4pack_for_cpu } from '../../runtime/operators/cpu/weight-only.js'
import { BLOCK_NUMBERS, PANEL_ROWS } from '../../runtime/shapes/packed-weight.js'
import { writeTensor } from '../../runtime/tensor/data.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { empty, type Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'

export type IntegerFormat = 'int8' | 'int4'

/** Numbers of a row that share a scale, of 4 bits. */
export const GROUPS: readonly number[] = [32, 64, 128, 256]

/** A matrix as an operator of PyTorch takes it. */
interface IntegerMatrix {
  readonly format: IntegerFormat
  readonly numbers: Tensor
  readonly scales: Tensor
}

export interface IntegerWeights {
  readonly functions: readonly FunctionCode[]
  /** Layers of each format, and those that stay as they are. */
  readonly counts: Readonly<Record<IntegerFormat, number>>
}

/**
 * Functions whose linear layers multiply by matrices of 8 bits with a scale for each row, or of 4 with one for each `group` of a row, by operators that
 * PyTorch has. The matrices, which nothing else reads, take the place of the floats in the module. Matrices whose sizes have no form of 4 bits get 8.
 *
 *     x, weight, bias                     aten::_weight_int8pack_mm(aten::reshape(x, [-1, k]), weight, scales)
 *     aten::linear                   →    aten::reshape([..., n]), aten::add(bias)
 */
export function withIntegerWeights({ functions, root, operatorVersion }: Program, format: IntegerFormat, group: number): IntegerWeights {
  const linked = linkFunctions(functions, operatorVersion, new Map())
  const matrices = new Map<Tensor, IntegerMatrix>()
  const calls = linearCalls(linked, root).filter(({ weight }) => isLarge(weight))
  for (const { weight } of calls) if (!matrices.has(weight)) matrices.set(weight, matrixOf(weight, format, group))
  for (const { slots } of modulesOf(root))
    for (const [i, value] of slots.entries()) slots[i] = matrices.get(value as Tensor)?.numbers ?? value
  const counts = { int8: 0, int4: 0 }
  for (const { weight } of calls) counts[matrices.get(weight)!.format]++
  const changed = linked.map((fn) => {
    const own = calls.filter((call) => call.fn === fn)
    return own.length === 0 ? fn.source : new Rewriting(fn.source, own, matrices, group).finish()
  })
  return { functions: changed, counts }
}

/** What `loadModule` rounds, too. */
function isLarge({ shape }: Tensor): boolean {
  const [n, k] = shape as [number, number]
  return n >= PANEL_ROWS && k >= BLOCK_NUMBERS && Math.max(n, k) < 2 ** 31
}

function matrixOf(weight: Tensor, wanted: IntegerFormat, group: number): IntegerMatrix {
  const [n, k] = weight.shape as [number, number]
  const format = wanted === 'int4' && n % 16 === 0 && k % group === 0 ? 'int4' : 'int8'
  const rounded = integersOf(weight, format, format === 'int4' ? group : 0)
  return format === 'int4' ? halves(rounded, n, k, group) : { format, ...ofRows(rounded, n, k) }
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
  return { format: 'int4', numbers, scales: lasting(pairs, [count, n, 2], DType.float32) }
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
} as const satisfies Readonly<Record<string, OperatorName>>

const JUMPS: ReadonlySet<number> = new Set(['JF', 'JMP', 'LOOP'].map((name) => OPCODE_BY_NAME.get(name)!))

/** The code of a function with other instructions in the place of some of its calls. */
class Rewriting {
  private readonly operators: OperatorName[]
  private readonly constants: Value[]
  /** By value. */
  private readonly constantAt = new Map<Value, number>()
  private readonly input: number

  constructor(
    private readonly source: FunctionCode,
    private readonly calls: readonly LinearCall[],
    private readonly matrices: ReadonlyMap<Tensor, IntegerMatrix>,
    private readonly group: number,
  ) {
    this.operators = [...source.operators]
    this.constants = source.constants.map((value) => matrices.get(value as Tensor)?.numbers ?? value)
    this.input = source.registerSize + 1
  }

  finish(): FunctionCode {
    const { source, calls, input } = this
    const { code } = source
    const parts = Array.from({ length: code.length / 3 }, (_, pc) => [...code.subarray(3 * pc, 3 * pc + 3)])
    for (const call of calls) parts[call.pc] = this.layer(call)
    const starts = [0]
    for (const part of parts) starts.push(starts.at(-1)! + part.length / 3)
    for (const [pc, part] of parts.entries()) if (part.length === 3 && JUMPS.has(part[0]!)) part[1] = starts[pc + part[1]!]! - starts[pc]!
    return {
      ...source,
      code: Int32Array.from(parts.flat()),
      operators: this.operators,
      constants: this.constants,
      registerSize: input + 2,
      debugHandles: undefined,
    }
  }

  /** Of input, matrix and bias on the stack, or without a bias that has a default. */
  private layer({ fn, pc, weight, hasBias }: LinearCall): number[] {
    const { input } = this
    const { format, scales } = this.matrices.get(weight)!
    const [n, k] = weight.shape as [number, number]
    const [matrix, bias] = [input + 1, input + 2]
    const { given } = fn.operators[fn.source.code[3 * pc + 1]!]!
    const operand = (name: string, x: number, count = 0): number[] => [OPCODE_BY_NAME.get(name)!, x, count]
    const call = (name: keyof typeof OPERATORS): number[] => operand('OP', this.operator(OPERATORS[name]))
    const constant = (value: Value): number[] => operand('LOADC', this.constant(value))
    return [
      ...operand('STOREN', input, given),
      ...[...operand('LOAD', input), ...constant(this.rows(k)), ...call('reshape')],
      ...[...constant(0), ...call('contiguous')],
      ...operand('MOVE', matrix),
      ...(format === 'int4' ? constant(this.group) : []),
      ...[...constant(scales), ...call(format)],
      ...[...operand('MOVE', input), ...call('size'), ...constant(-1), ...constant(n), ...call('setItem')],
      ...call('reshape'),
      ...(hasBias ? [...operand('MOVE', bias), ...constant(1), ...call('add')] : []),
    ]
  }

  private readonly lists = new Map<number, Value>()

  private rows(k: number): Value {
    const list = this.lists.get(k) ?? [-1, k]
    this.lists.set(k, list)
    return list
  }

  private operator(wanted: OperatorName): number {
    const known = this.operators.indexOf(wanted)
    return known >= 0 ? known : this.operators.push(wanted) - 1
  }

  private constant(value: Value): number {
    const known = this.constantAt.get(value) ?? this.constants.push(value) - 1
    this.constantAt.set(value, known)
    return known
  }
}
