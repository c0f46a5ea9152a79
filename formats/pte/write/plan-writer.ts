import { elementCount } from '../plan.js'
import { damaged, unsupported } from '../../../program/file-error.js'
import { compiler } from '../../../compiler/lazy.js'
import type { SchemaArgument } from '../../../runtime/operators/table/schema.js'
import { DType, dtypeName, isFloating, itemSize } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { Value } from '../../../runtime/tensor/value.js'
import type { AlignedArg, AlignedValue, Sampled } from './aligned.js'
import type { ConstantTable } from './constants.js'

/** A tensor that outlives calls. */
export interface KeptTensor {
  readonly name: string
  /** Number of what it begins with. */
  readonly initial: number
  /** In the memory that methods share; null for one in the method's own. */
  readonly offset: number | null
}

/** A value of the plan, as the file has it. */
export type WrittenValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'int'; readonly value: number | bigint }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'str'; readonly value: string }
  | { readonly kind: 'ints' | 'tensors' | 'optionalTensors'; readonly items: readonly number[] }
  | { readonly kind: 'floats'; readonly values: readonly number[] }
  | { readonly kind: 'bools'; readonly values: readonly boolean[] }
  | {
      readonly kind: 'tensor'
      readonly dtype: DType
      /** Upper bounds where it is dynamic. */
      readonly sizes: readonly number[]
      readonly isDynamic: boolean
      /** 0 for none. */
      readonly constant: number
      /** Of one that outlives calls. */
      readonly kept?: KeptTensor
    }

export interface WrittenCall {
  /** Place in the list of operators. */
  readonly operator: number
  readonly args: readonly number[]
}

/** A method as the file has it. */
export interface WrittenPlan {
  readonly name: string
  readonly values: readonly WrittenValue[]
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  readonly operators: readonly string[]
  readonly calls: readonly WrittenCall[]
  /** Offsets in the arena of tensors, by value. */
  readonly offsets: ReadonlyMap<number, number>
  readonly arenaBytes: number
  readonly inputTree: string
  readonly outputTree: string
}

/** Tensors of these dtypes have a form in ExecuTorch. */
const DTYPES: ReadonlySet<DType> = new Set([
  DType.uint8, DType.int8, DType.int16, DType.int32, DType.int64, DType.float16, DType.float32, DType.float64, DType.bool, DType.bfloat16,
]) // prettier-ignore

/** Collects the values and calls of a method, and says where tensors lie. */
export class PlanWriter {
  readonly values: WrittenValue[] = []
  private readonly operators: string[] = []
  private readonly calls: WrittenCall[] = []
  private readonly tensors = new Map<AlignedValue, number>()
  private readonly plain = new Map<string, number>()
  private readonly sizes = new Map<string, number>()
  /** The calls between which a tensor has to stay, by value. */
  private readonly lives = new Map<number, { first: number; last: number }>()
  /** Dimensions whose size may differ, of tensors that are there, by what it is in each recording. */
  private readonly known = new Map<string, readonly [value: number, dim: number, at: Sampled]>()

  constructor(private readonly constants: ConstantTable) {}

  /** A tensor that the caller gives, or a call makes. */
  define(value: AlignedValue): number {
    const index = this.tensor(value)
    if (value.tensor === null && !this.lives.has(index)) this.lives.set(index, { first: this.calls.length, last: this.calls.length })
    value.shape.forEach((at, dim) => {
      const key = at.join()
      if (!isFixed(at) && value.tensor === null && !this.known.has(key)) this.known.set(key, [index, dim, at])
    })
    return index
  }

  /** A tensor that outlives calls. */
  keep(value: AlignedValue, kept: KeptTensor): void {
    checkDtype(value.dtype)
    const sizes = value.shape.map((at) => Number(at[0]))
    const index = this.push({ kind: 'tensor', dtype: value.dtype, sizes, isDynamic: false, constant: 0, kept })
    this.tensors.set(value, index)
    if (kept.offset === null) this.lives.set(index, { first: -1, last: Infinity })
  }

  /** The number that a tensor of one element holds, as a value. */
  read(value: AlignedValue): number {
    const from = this.use(this.tensor(value))
    const result = this.push(isFloating(value.dtype) ? { kind: 'float', value: 0 } : { kind: 'int', value: 0 })
    this.instruction('aten::_local_scalar_dense', [from, result])
    return result
  }

  /** Puts a value into a tensor that outlives calls. */
  update(kept: AlignedValue, value: AlignedValue): void {
    const [to, from] = [this.tensor(kept), this.use(this.tensor(value))]
    this.instruction('aten::copy_', [to, from, this.constant({ kind: 'bool', value: false }), to])
  }

  /** The value of a tensor. */
  tensor(value: AlignedValue): number {
    const known = this.tensors.get(value)
    if (known !== undefined) return known
    checkDtype(value.dtype)
    const isDynamic = value.shape.some((at) => !isFixed(at))
    if (isDynamic && value.tensor !== null)
      throw unsupported('a constant depends on the sizes of inputs; give --shape to write it for one size')
    const sizes = value.shape.map((at) => Number(at.reduce((a, b) => (a > b ? a : b))))
    const constant = value.tensor === null ? 0 : this.constants.add(value.tensor)
    const index = this.push({ kind: 'tensor', dtype: value.dtype, sizes, isDynamic, constant })
    this.tensors.set(value, index)
    return index
  }

  /** What a call reads has to be there until then. */
  private use(index: number): number {
    const life = this.lives.get(index)
    if (life !== undefined) life.last = Math.max(life.last, this.calls.length)
    return index
  }

  private push(value: WrittenValue): number {
    return this.values.push(value) - 1
  }

  /** A value that is the same wherever it is used. */
  private constant(value: WrittenValue): number {
    const key = JSON.stringify(value, (_, item: unknown) =>
      typeof item === 'bigint' || Object.is(item, -0) || (typeof item === 'number' && !Number.isFinite(item))
        ? `#${String(item)} ${1 / Number(item)}`
        : item,
    )
    let index = this.plain.get(key)
    if (index === undefined) this.plain.set(key, (index = this.push(value)))
    return index
  }

  /** An int, which the program computes where it differs from call to call. */
  int(at: Sampled): number {
    if (isFixed(at)) return this.constant({ kind: 'int', value: at[0]! })
    const key = at.join()
    let index = this.sizes.get(key)
    if (index === undefined) this.sizes.set(key, (index = this.computed(at)))
    return index
  }

  private computed(at: Sampled): number {
    const found = this.known.get(at.join())
    if (found !== undefined) return this.sizeOf(found)
    // a size times a number, and a number more
    for (const entry of this.known.values()) {
      const line = lineThrough(entry[2], at)
      if (line === null) continue
      const [factor, offset] = line
      const scaled = factor === 1 ? this.int(entry[2]) : this.prim('mul.Scalar', [this.int(entry[2]), this.int([factor])])
      return offset === 0 ? scaled : this.prim('add.Scalar', [scaled, this.int([offset])])
    }
    // the product of two sizes and a number
    const entries = [...this.known.values()]
    for (const [i, a] of entries.entries())
      for (const b of entries.slice(i)) {
        const product = a[2].map((size, n) => Number(size) * Number(b[2][n]!))
        const line = lineThrough(product, at)
        if (line === null || line[1] !== 0) continue
        const both = this.prim('mul.Scalar', [this.int(a[2]), this.int(b[2])])
        return line[0] === 1 ? both : this.prim('mul.Scalar', [both, this.int([line[0]])])
      }
    throw unsupported(
      `a number that depends on the sizes of inputs (${at.join(', ')}) is no multiple of one; give --shape to write it for one size`,
    )
  }

  private sizeOf([value, dim]: readonly [number, number, Sampled]): number {
    const args = [this.use(value), this.int([dim])]
    const result = this.push({ kind: 'int', value: 0 })
    this.instruction('aten::sym_size.int', [...args, result])
    return result
  }

  private prim(name: string, args: readonly number[]): number {
    const result = this.push({ kind: 'int', value: 0 })
    this.instruction(`executorch_prim::${name}`, [...args, result])
    return result
  }

  private instruction(name: string, args: readonly number[]): void {
    let operator = this.operators.indexOf(name)
    if (operator < 0) operator = this.operators.push(name) - 1
    this.calls.push({ operator, args })
  }

  /** Calls an operator whose results come last: the arguments of its schema without them, and they. A list of tensors is one result. */
  call(
    name: string,
    schema: readonly Pick<SchemaArgument, 'name' | 'type'>[],
    args: readonly AlignedArg[],
    results: readonly AlignedValue[],
    isList: boolean,
  ): void {
    const given = schema.map(({ name: argument, type }, i) => {
      const arg = args[i]
      if (arg === undefined) throw damaged(`${name}: argument '${argument}' is missing`)
      return this.argument(arg, type)
    })
    const outs = results.map((value) => this.define(value))
    for (const tensor of this.tensorsIn(args)) this.use(this.tensor(tensor))
    const list = isList || outs.length > 1 ? this.push({ kind: 'tensors', items: outs }) : outs[0]!
    this.instruction(name, [...given, ...(isList ? [list] : outs), list])
  }

  private *tensorsIn(args: readonly AlignedArg[]): Generator<AlignedValue> {
    for (const arg of args) {
      if (arg.kind === 'value') yield arg.value
      if (arg.kind === 'list' || arg.kind === 'tuple') yield* this.tensorsIn(arg.items)
    }
  }

  /** The value of an argument of a schema's type. */
  argument(arg: AlignedArg, type: string): number {
    const optional = type.endsWith('?')
    const base = optional ? type.slice(0, -1) : type
    if (arg.kind === 'plain' && arg.value === null) {
      if (optional) return this.constant({ kind: 'none' })
      throw unsupported(`None as ${type}`)
    }
    const list = /^(.*)\[(\d*)\]$/.exec(base)
    if (list !== null) return this.list(arg, list[1]!, Number(list[2] ?? 0))
    if (base === 'Tensor') {
      if (arg.kind === 'value') return this.tensor(arg.value)
      throw unsupported(`a number as ${type}`)
    }
    if (arg.kind === 'int') return this.number(arg.at, base)
    if (arg.kind === 'plain') return this.constant(writtenOf(arg.value, base))
    throw unsupported(`a ${arg.kind} as ${type}`)
  }

  private number(at: Sampled, type: string): number {
    if (type === 'float') {
      if (!isFixed(at)) throw unsupported('a float that depends on the sizes of inputs')
      return this.constant({ kind: 'float', value: Number(at[0]) })
    }
    return this.int(at)
  }

  private list(arg: AlignedArg, element: string, count: number): number {
    // one number stands for as many as there are
    const items = arg.kind === 'list' || arg.kind === 'tuple' ? arg.items : Array<AlignedArg>(Math.max(count, 1)).fill(arg)
    switch (element) {
      case 'int':
      case 'SymInt':
        return this.push({ kind: 'ints', items: items.map((item) => this.argument(item, 'int')) })
      case 'float':
        return this.push({
          kind: 'floats',
          values: items.map((item) =>
            item.kind === 'int' ? Number(item.at[0]) : item.kind === 'plain' && item.value instanceof Float ? item.value.value : NaN,
          ),
        })
      case 'bool':
        return this.push({ kind: 'bools', values: items.map((item) => item.kind === 'plain' && item.value === true) })
      case 'Tensor':
        return this.push({ kind: 'tensors', items: items.map((item) => this.argument(item, 'Tensor')) })
      case 'Tensor?':
        return this.push({ kind: 'optionalTensors', items: items.map((item) => (item.kind === 'value' ? this.tensor(item.value) : -1)) })
      default:
        throw unsupported(`a list of ${element}`)
    }
  }

  /** Leaves of what a method takes, in order; those of the arguments that are tensors come from `tensors`. */
  leaf(arg: AlignedArg): number {
    if (arg.kind === 'value') return this.tensor(arg.value)
    if (arg.kind === 'int') return this.int(arg.at)
    if (arg.kind === 'plain') return this.constant(writtenOf(arg.value, ''))
    throw damaged(`a ${arg.kind} is no leaf`)
  }

  finish(name: string, inputs: readonly number[], outputs: readonly number[], inputTree: string, outputTree: string): WrittenPlan {
    const end = this.calls.length
    for (const index of outputs) {
      const life = this.lives.get(index)
      if (life !== undefined) life.last = end
    }
    for (const life of this.lives.values()) life.last = Math.min(life.last, end)
    for (const index of inputs) {
      const life = this.lives.get(index)
      if (life !== undefined) life.first = -1
    }
    const planned = [...this.lives]
    const { offsets, arenaBytes } = compiler().planMemory(
      planned.map(([index, { first, last }]) => ({ bytes: this.bytesOf(index), first: first + 1, last: last + 1 })),
    )
    return {
      name,
      values: this.values,
      inputs,
      outputs,
      operators: this.operators,
      calls: this.calls,
      offsets: new Map(planned.map(([index], i) => [index, offsets[i]!])),
      arenaBytes,
      inputTree,
      outputTree,
    }
  }

  private bytesOf(index: number): number {
    const value = this.values[index]!
    return value.kind === 'tensor' ? Math.max(elementCount(value.sizes) * itemSize(value.dtype), 1) : 0
  }
}

function checkDtype(dtype: DType): void {
  if (!DTYPES.has(dtype)) throw unsupported(`tensors of ${dtypeName(dtype)} have no form in ExecuTorch`)
}

export function isFixed(at: Sampled): boolean {
  return at.every((value) => value === at[0])
}

/** `factor` and `offset` of to = factor * from + offset, which has to hold for all; null where there are none. */
function lineThrough(from: Sampled, to: Sampled): readonly [number, number] | null {
  const [x, y] = [from.map(Number), to.map(Number)]
  const other = x.findIndex((value) => value !== x[0])
  if (other < 0) return null
  const factor = (y[other]! - y[0]!) / (x[other]! - x[0]!)
  const offset = y[0]! - factor * x[0]!
  if (!Number.isSafeInteger(factor) || factor === 0) return null
  return x.every((value, i) => factor * value + offset === y[i]) ? [factor, offset] : null
}

function writtenOf(value: Value, type: string): WrittenValue {
  if (value === null) return { kind: 'none' }
  if (typeof value === 'boolean') return { kind: 'bool', value }
  if (typeof value === 'number' || typeof value === 'bigint')
    return type === 'float' ? { kind: 'float', value: Number(value) } : { kind: 'int', value }
  if (value instanceof Float) return { kind: 'float', value: value.value }
  if (typeof value === 'string') return { kind: 'str', value }
  throw unsupported('a value of another kind than None, bool, int, float and string')
}
