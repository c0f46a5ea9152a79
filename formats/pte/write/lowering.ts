import { findOperator, overloadsOf } from '../../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../../runtime/operators/table/schema.js'
import { type DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { unsupported } from '../../../program/file-error.js'
import type { Value } from '../../../runtime/tensor/value.js'
import { permute } from '../../../runtime/tensor/view.js'
import type { AlignedArg, AlignedNode, AlignedResult, AlignedValue, Sampled } from './aligned.js'
import { isFixed, type PlanWriter } from './plan-writer.js'
import { PORTABLE } from './portable.js'

/** Sizes of a tensor. */
export type Shape = readonly Sampled[]

/** Arguments that say nothing of values. */
const IDLE: ReadonlySet<string> = new Set([
  'memory_format',
  'layout',
  'device',
  'pin_memory',
  'requires_grad',
  'non_blocking',
  'generator',
  'copy',
])

/** Calls that operators are written as, on tensors as they are in several recordings. */
export class Lowering {
  /** What stands for a value. */
  private readonly same = new Map<AlignedValue, AlignedValue>()

  constructor(private readonly plan: PlanWriter) {}

  /** What a value is called in the plan. */
  resolve(value: AlignedValue): AlignedValue {
    const other = this.same.get(value)
    return other === undefined ? value : this.resolve(other)
  }

  /** One value in place of another. */
  alias(value: AlignedValue, other: AlignedValue): void {
    if (value !== other) this.same.set(value, this.resolve(other))
  }

  arg(arg: AlignedArg): AlignedArg {
    if (arg.kind === 'value') return { kind: 'value', value: this.resolve(arg.value) }
    if (arg.kind === 'list' || arg.kind === 'tuple') return { ...arg, items: arg.items.map((item) => this.arg(item)) }
    if (arg.kind === 'dict') return { ...arg, items: arg.items.map((item) => this.arg(item)) }
    return arg
  }

  /** Calls an operator of PORTABLE. Numbers, lists and values are given as they are; results are made of `forms`, or are given. */
  call(name: string, args: readonly Given[], ...results: readonly AlignedValue[]): AlignedValue {
    const schema = givenOf(name, args.length)
    this.plan.call(
      name,
      schema,
      args.map((arg) => this.arg(argOf(arg))),
      results,
      false,
    )
    return results[0]!
  }

  /** Writes a node as the operator with `out` that has its arguments. False where there is none. */
  direct({ op, args, results }: AlignedNode): boolean {
    const found = portableFor(op, args)
    if (found === null) return false
    const [first] = results
    const isList = Array.isArray(first)
    const outs = (isList ? (first as readonly AlignedResult[]) : results).map((result, i) => {
      if (result !== null && !Array.isArray(result)) return result as AlignedValue
      throw unsupported(`${op} has result ${i}, which nobody needs, and it has no form`)
    })
    this.plan.call(
      found.name,
      found.given,
      found.places.map((place, i) => (place === null ? argOf(found.given[i]!.defaultValue as Given) : this.arg(args[place]!))),
      outs,
      isList,
    )
    return true
  }

  value(dtype: DType, shape: Shape): AlignedValue {
    return { dtype, shape, tensor: null }
  }

  like(value: AlignedValue): AlignedValue {
    return this.value(value.dtype, value.shape)
  }

  view(x: AlignedValue, shape: Shape, into = this.value(x.dtype, shape)): AlignedValue {
    return this.call('aten::view_copy.out', [x, shape.map((at): AlignedArg => ({ kind: 'int', at }))], into)
  }

  permute(x: AlignedValue, dims: readonly number[]): AlignedValue {
    const shape = dims.map((dim) => x.shape[dim]!)
    // of what is the same in every call it is done now
    if (x.tensor !== null) return { dtype: x.dtype, shape, tensor: permute(x.tensor, dims) }
    return this.call('aten::permute_copy.out', [x, dims], this.value(x.dtype, shape))
  }

  cast(x: AlignedValue, dtype: DType, into = this.value(dtype, x.shape)): AlignedValue {
    const order = x.shape.map((_, i) => i)
    // it is no operator of the table, but one that ExecuTorch has for itself
    this.plan.call(
      'dim_order_ops::_to_dim_order_copy.out',
      [
        { name: 'self', type: 'Tensor' },
        { name: 'non_blocking', type: 'bool' },
        { name: 'dim_order', type: 'int[]?' },
      ],
      [this.arg(argOf(x)), argOf(false), argOf(order)],
      [into],
      false,
    )
    return into
  }

  /** An operator of two numbers for each element, with a scalar. */
  scalar(name: 'add' | 'sub' | 'mul' | 'div', x: AlignedValue, by: number, into = this.like(x)): AlignedValue {
    return this.call(`aten::${name}.Scalar_out`, name === 'add' || name === 'sub' ? [x, new Float(by), 1] : [x, new Float(by)], into)
  }

  add(a: AlignedValue, b: AlignedValue, into = this.value(a.dtype, broadcast(a.shape, b.shape))): AlignedValue {
    return this.call('aten::add.out', [a, b, 1], into)
  }

  mul(a: AlignedValue, b: AlignedValue, into = this.value(a.dtype, broadcast(a.shape, b.shape))): AlignedValue {
    return this.call('aten::mul.out', [a, b], into)
  }

  unary(name: string, x: AlignedValue, into = this.like(x)): AlignedValue {
    return this.call(`aten::${name}.out`, [x], into)
  }

  clamp(x: AlignedValue, min: number, max: number, into = this.like(x)): AlignedValue {
    return this.call('aten::hardtanh.out', [x, new Float(min), new Float(max)], into)
  }

  softmax(x: AlignedValue, dim: number, name = '_softmax', into = this.like(x)): AlignedValue {
    return this.call(`aten::${name}.out`, [x, dim, false], into)
  }
}

/** An argument as rules write it. */
export type Given = AlignedValue | AlignedArg | Value | readonly (AlignedArg | AlignedValue | number)[]

export function argOf(given: Given): AlignedArg {
  if (Array.isArray(given)) return { kind: 'list', items: (given as Given[]).map(argOf) }
  if (typeof given === 'number' || typeof given === 'bigint') return { kind: 'int', at: [given] }
  if (given === null || typeof given !== 'object' || given instanceof Float) return { kind: 'plain', value: given as Value }
  if ('kind' in given) return given
  if ('tensor' in given) return { kind: 'value', value: given }
  throw unsupported('a value of this kind')
}

function broadcast(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a[i - rank + a.length] ?? [1], b[i - rank + b.length] ?? [1]]
    return isFixed(x) && x[0] === 1 ? y : x
  })
}

interface Found {
  readonly name: string
  readonly given: readonly SchemaArgument[]
  /** For each of them its place among the arguments of the operator that is written so; null for its default. */
  readonly places: readonly (number | null)[]
}

/** The arguments of an operator of PORTABLE without its results. */
function givenOf(name: string, count: number): readonly SchemaArgument[] {
  const own = findOperator(name)?.schema.arguments.filter(({ isOut }) => !isOut)
  const others = overloadsOf(baseOf(name)).map(({ schema }) => schema.arguments.filter(({ isOut }) => !isOut))
  const found = own ?? others.find(({ length }) => length === count)
  if (found === undefined) throw unsupported(`${name} is an operator that this build has not got`)
  return found
}

function baseOf(name: string): string {
  return name.replace(/\.[^.]*$/, '')
}

/** Overloads by the names of operators that make their results. */
let byBase: ReadonlyMap<string, readonly string[]> | undefined

function candidates(base: string): readonly string[] {
  if (byBase === undefined) {
    const map = new Map<string, string[]>()
    for (const name of PORTABLE) {
      const own = baseOf(name)
      for (const key of [own, own.replace(/_copy$/, '')]) map.set(key, [...(map.get(key) ?? []), name])
    }
    byBase = map
  }
  return byBase.get(base) ?? []
}

function portableFor(op: string, args: readonly AlignedArg[]): Found | null {
  const schema = findOperator(op)?.schema
  if (schema === undefined) return null
  const wanted = schema.arguments
  for (const name of candidates(/::.*\./.test(op) ? baseOf(op) : op)) {
    const own = findOperator(name)?.schema.arguments
    // without a schema of its own it takes what the operator of its overload does
    const given = own === undefined ? (nameFits(name, op) ? wanted : null) : own.filter(({ isOut }) => !isOut)
    const places = given === null ? null : placesIn(given, wanted, args)
    if (given !== null && places !== null) return { name, given, places }
  }
  return null
}

/** Whether a name is that of an operator with `out` behind its overload: `choose_qparams.Tensor_out` of `choose_qparams.tensor`. */
function nameFits(name: string, op: string): boolean {
  const base = baseOf(name)
  const overload = name.slice(base.length + 1).replace(/_?out$/, '')
  return op.toLowerCase() === (overload === '' ? base : `${base}.${overload}`).toLowerCase()
}

function placesIn(
  given: readonly SchemaArgument[],
  wanted: readonly SchemaArgument[],
  args: readonly AlignedArg[],
): (number | null)[] | null {
  const used = new Set<number>()
  const places: (number | null)[] = []
  for (const { name, type, defaultValue } of given) {
    const place = wanted.findIndex((argument) => argument.name === name)
    if (place >= 0) {
      if (plain(wanted[place]!.type) !== plain(type)) return null
      used.add(place)
      places.push(place)
    } else if (defaultValue !== undefined) places.push(null)
    else return null
  }
  const rest = wanted.every(
    ({ name, defaultValue }, i) => used.has(i) || name === 'dtype' || IDLE.has(name) || isDefault(args[i], defaultValue),
  )
  return rest ? places : null
}

function plain(type: string): string {
  return type
    .replace('Sym', '')
    .replace('Int', 'int')
    .replace(/\[\d+\]/, '[]')
    .replace(/\?$/, '')
}

function isDefault(arg: AlignedArg | undefined, value: Value | undefined): boolean {
  if (arg === undefined) return true
  if (arg.kind === 'plain')
    return arg.value === value || (arg.value instanceof Float && value instanceof Float && arg.value.value === value.value)
  return arg.kind === 'int' && isFixed(arg.at) && arg.at[0] === value
}
