import { damaged, unsupported } from '../../../program/file-error.js'
import { DType, type DTypeName } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { inverseOf, isOrdered } from '../form.js'
import type { MethodEmitter } from '../method-emitter.js'
import type { Graph, GraphValue } from './graph.js'
import { Datatype, Flag } from './schema.js'
import { Weights } from './weights.js'

const SPACE = 'quantized_decomposed::'

/** How a graph's value is kept: a tensor whose dimension `order[i]` is dimension i of the value. */
interface Kept {
  readonly register: number
  readonly order: readonly number[]
}

function isIdentity(order: readonly number[]): boolean {
  return order.every((dim, i) => dim === i)
}

export function identity(rank: number): number[] {
  return Array.from({ length: rank }, (_, i) => i)
}

/** The smallest and the largest integer of a datatype whose numbers are integers with one scale; null for others. */
export function rangeOf({ datatype }: GraphValue): { readonly min: number; readonly max: number; readonly dtype: number } | null {
  if (datatype === Datatype.qint8) return { min: -128, max: 127, dtype: DType.int8 }
  return datatype === Datatype.quint8 ? { min: 0, max: 255, dtype: DType.uint8 } : null
}

const FLOATS: Readonly<Record<number, DTypeName>> = { 1: 'float32', 2: 'float16', 13: 'float32', 14: 'bfloat16' }

/**
 * The values of one call of a delegate. They are kept in whatever order of dimensions they were made, so that transpositions to images with the channels last and back
 * cost nothing where they meet. Quantized ones are kept as integers, and dequantized where something is computed with them: the compiler computes with the integers.
 */
export class DelegateValues {
  private readonly kept = new Map<number, Kept>()
  /** Values that may share memory with an argument that somebody writes to. */
  private readonly borrowed = new Set<number>()
  private readonly weights: Weights

  constructor(
    readonly graph: Graph,
    readonly emitter: MethodEmitter,
    scope: string,
    /** Arguments of the delegate that it gives, by the ids of their values. */
    private readonly results: ReadonlyMap<number, number>,
  ) {
    this.weights = new Weights(emitter.attributes, scope)
  }

  value(id: number): GraphValue {
    const value = this.graph.values.get(id)
    if (value === undefined) throw damaged(`it refers to value ${id}, which there is not`)
    return value
  }

  /** Takes an argument of the delegate as a value. Images may come with their channels last, which is how the graph sees their dimensions. */
  take(value: GraphValue, argument: number): void {
    const { emitter } = this
    const tensor = emitter.tensor(argument)
    if (emitter.isShared(argument)) this.borrowed.add(value.id)
    emitter.push(argument)
    if (tensor.sizes.length === 0 && value.dims.length === 1) {
      emitter.constant([1])
      emitter.operator('aten::reshape', 2)
      return this.keep(value.id, [0])
    }
    this.keep(value.id, isOrdered(tensor) ? identity(tensor.sizes.length) : tensor.dimOrder)
  }

  /** Gives a value to a result of the delegate. */
  give(value: GraphValue, argument: number): void {
    const { emitter } = this
    const tensor = emitter.tensor(argument)
    this.pushKept(value, isOrdered(tensor) ? identity(value.dims.length) : inverseOf(tensor.dimOrder))
    if (tensor.sizes.length === 0) {
      emitter.constant([])
      emitter.operator('aten::reshape', 2)
    }
    const own = rangeOf(value)?.dtype ?? dtypeOf(value)
    if (own !== tensor.scalarType) this.cast(tensor.scalarType)
    // a state is copied to anyway
    if (!emitter.isState(argument) && (this.borrowed.has(value.id) || emitter.isShared(argument))) emitter.operator('aten::clone', 1)
    emitter.store(argument)
  }

  /** The order in which a value is kept; that of its dimensions for constants. */
  orderOf(id: number): readonly number[] {
    return this.kept.get(id)?.order ?? identity(this.value(id).dims.length)
  }

  /** Pushes the floats of a value; dimension i is dimension `order[i]` of the value. */
  push(id: number, order?: readonly number[]): void {
    const value = this.value(id)
    if (value.data !== null) return this.weights.push(value, order ?? identity(value.dims.length), this.emitter)
    this.pushKept(value, order ?? identity(value.dims.length))
    this.dequantize(value)
  }

  /** Pushes a value as it is kept, with its dimensions in another order. */
  private pushKept({ id, data, dims }: GraphValue, order: readonly number[]): void {
    const { emitter } = this
    if (data !== null) return this.push(id, order)
    const kept = this.kept.get(id)
    if (kept === undefined) throw damaged(`value ${id} is used before it is set`)
    if (kept.order.length !== order.length) throw damaged(`value ${id} has ${kept.order.length} dimensions; expected ${dims.length}`)
    emitter.builder.emit('LOAD', kept.register)
    const from = order.map((dim) => kept.order[dim]!)
    if (isIdentity(from)) return
    emitter.constant(from)
    emitter.operator('aten::permute', 2)
  }

  /** Pushes the integers of a quantized value, or its floats, as they are kept. */
  pushRaw(id: number): void {
    const value = this.value(id)
    if (value.data !== null) return this.push(id)
    const kept = this.kept.get(id)
    if (kept === undefined) throw damaged(`value ${id} is used before it is set`)
    this.emitter.builder.emit('LOAD', kept.register)
  }

  private dequantize(value: GraphValue): void {
    const { emitter } = this
    const { quantization } = value
    const range = rangeOf(value)
    if (range === null || quantization === null) {
      if (quantization?.kind === 'token' && value.datatype !== Datatype.qdint8) this.fakeQuantize(quantization.dims)
      return
    }
    if (quantization.kind !== 'tensor') throw unsupported('an activation with a scale for each channel')
    this.parameters(quantization, range)
    emitter.operator(`${SPACE}dequantize_per_tensor`, 6)
  }

  private parameters({ scale, zeroPoint }: { scale: number; zeroPoint: number }, range: { min: number; max: number; dtype: number }): void {
    const { emitter } = this
    emitter.constant(new Float(scale))
    for (const value of [zeroPoint, range.min, range.max, range.dtype]) emitter.constant(value)
  }

  /** Stores the floats on the stack as a value, whose dimension i is their dimension `order[i]`. */
  store(id: number, order: readonly number[]): void {
    const { emitter } = this
    const value = this.value(id)
    const { quantization } = value
    const range = rangeOf(value)
    if (range !== null) {
      if (quantization?.kind !== 'tensor') throw unsupported('an activation with a scale for each channel')
      this.parameters(quantization, range)
      emitter.operator(`${SPACE}quantize_per_tensor`, 6)
    } else if (quantization?.kind === 'token') this.fakeQuantize(quantization.dims, order)
    this.keep(id, order)
  }

  /** Stores what is on the stack, as it is, as a value. A result has the sizes that the file says of the argument. */
  keep(id: number, order: readonly number[]): void {
    const argument = this.results.get(id)
    if (argument !== undefined) this.boundResult(argument, order)
    const register = this.emitter.temporary()
    this.emitter.builder.emit('STORE', register)
    this.kept.set(id, { register, order })
  }

  private boundResult(argument: number, order: readonly number[]): void {
    const tensor = this.emitter.tensor(argument)
    const { sizes, dimOrder, isDynamic } = tensor
    // numbers without dimensions have one here
    const own = sizes.length === 0 ? [1] : isOrdered(tensor) ? sizes : dimOrder.map((dim) => sizes[dim]!)
    if (own.length === order.length) this.emitter.boundTo([{ sizes: inOrderOf(order, own), areBounds: isDynamic }])
  }

  /** The value of another id in another order of dimensions, of the same integers where it is quantized. */
  rename(from: number, to: number, order: readonly number[]): void {
    const kept = this.kept.get(from)
    if (kept === undefined) {
      this.push(from)
      return this.keep(to, order)
    }
    this.kept.set(to, { register: kept.register, order: order.map((dim) => kept.order[dim]!) })
  }

  /** One value may share memory with another. */
  borrow(from: number, to: number): void {
    if (this.borrowed.has(from)) this.borrowed.add(to)
  }

  isConstant(id: number): boolean {
    return this.value(id).data !== null
  }

  /** Both are kept in the same form: integers of the same scale and zero point, or floats. */
  areAlike(a: number, b: number): boolean {
    const [one, other] = [this.value(a), this.value(b)]
    if (one.datatype !== other.datatype) return false
    const [p, q] = [one.quantization, other.quantization]
    if (p === null || q === null) return p === q
    return p.kind === 'tensor' && q.kind === 'tensor' && p.scale === q.scale && p.zeroPoint === q.zeroPoint
  }

  /** The dtype of what a value is pushed as: integers are dequantized to single precision. */
  floatsOf(id: number): number {
    const value = this.value(id)
    return rangeOf(value) === null && value.datatype !== Datatype.qdint8 ? dtypeOf(value) : DType.float32
  }

  /** The floats of one value on the stack as those of another, which may be of another dtype. */
  castTo(from: number, to: number): void {
    const wanted = this.value(to)
    if (rangeOf(wanted) !== null || wanted.datatype === Datatype.qdint8) return
    if (this.floatsOf(from) !== dtypeOf(wanted)) this.cast(dtypeOf(wanted))
  }

  cast(dtype: number): void {
    this.emitter.constant(dtype)
    this.emitter.operator('aten::to.dtype', 2)
  }

  /** The floats on the stack with each row, of so many of the last dimensions, quantized to int8 by its own range and dequantized. */
  private fakeQuantize(dims: number, order?: readonly number[]): void {
    const { emitter } = this
    const { builder } = emitter
    const isTurned = order !== undefined && !isIdentity(order)
    if (isTurned) this.permute(order)
    const floats = emitter.temporary()
    builder.emit('STORE', floats)
    // the numbers of a row one behind the other
    const rows = emitter.temporary()
    builder.emit('LOAD', floats)
    if (dims > 1) {
      builder.constant(-dims)
      builder.constant(-1)
      builder.operator('aten::flatten.using_ints', 3)
    }
    builder.emit('STORE', rows)
    const [scales, zeroPoints] = [emitter.temporary(), emitter.temporary()]
    builder.emit('LOAD', rows)
    builder.constant(DType.int8)
    builder.operator(`${SPACE}choose_qparams_per_token_asymmetric`, 2)
    builder.emit('STORE', zeroPoints)
    builder.emit('STORE', scales)
    const parameters = (): void => {
      builder.emit('LOAD', scales)
      builder.emit('LOAD', zeroPoints)
      for (const value of [-128, 127, DType.int8]) builder.constant(value)
    }
    builder.emit('LOAD', rows)
    parameters()
    builder.operator(`${SPACE}quantize_per_token`, 6)
    parameters()
    builder.constant(DType.float32)
    builder.operator(`${SPACE}dequantize_per_token`, 7)
    if (dims > 1) {
      builder.emit('LOAD', floats)
      builder.operator('aten::size', 1)
      builder.operator('aten::reshape', 2)
    }
    if (isTurned) this.permute(inverseOf(order))
  }

  permute(order: readonly number[]): void {
    if (isIdentity(order)) return
    this.emitter.constant([...order])
    this.emitter.operator('aten::permute', 2)
  }

  /** The arguments of the delegate that it takes, and those that it gives. */
  static externals(graph: Graph): { readonly inputs: readonly GraphValue[]; readonly outputs: readonly GraphValue[] } {
    const all = [...graph.values.values()].sort((a, b) => a.external - b.external)
    return {
      inputs: all.filter(({ flags }) => (flags & Flag.input) !== 0),
      outputs: all.filter(({ flags }) => (flags & Flag.output) !== 0),
    }
  }
}

/** Sizes as they are kept: dimension `order[i]` of these is dimension i. */
function inOrderOf(order: readonly number[], sizes: readonly number[]): number[] {
  const kept = [...sizes]
  order.forEach((dim, i) => (kept[dim] = sizes[i]!))
  return kept
}

/** The dtype of a value's floats, or of its ints. */
export function dtypeOf({ datatype }: GraphValue): number {
  const name = FLOATS[datatype]
  return name === undefined ? (datatype === Datatype.int32 ? DType.int32 : DType.float32) : DType[name]
}
