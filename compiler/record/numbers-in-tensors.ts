import { linkEntry } from '../../program/link.js'
import type { LinkedOperator } from '../../program/linked.js'
import { calledOperator, type OperatorEntry } from '../../runtime/operators/table/registry.js'
import { DType, isFloating } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { isContiguous, sameShape } from '../../runtime/tensor/shape.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { TracedNumber } from './region-number.js'

/** An operator on `values`, of which those vary that have a number. */
interface OnNumbers {
  readonly op: LinkedOperator
  readonly values: readonly Value[]
  readonly numbers: readonly (TracedNumber | null)[]
}

/** A call that does what another one does, and is given its numbers in a tensor. */
export interface TensorForm {
  /** Gives the tensor. */
  readonly maker: OnNumbers
  /** What is true of numbers that it serves. */
  readonly checks: readonly OnNumbers[]
  readonly called: LinkedOperator
  argsWith(made: Tensor): Value[]
}

/** Operators on a tensor and a number that have an overload for a number in a tensor, with the same result. */
const ON_NUMBERS = new Set(['add', 'sub', 'mul', 'eq', 'ne', 'lt', 'le', 'gt', 'ge'].map((name) => `aten::${name}.Scalar`))

const EXACT: ReadonlySet<DType> = new Set([DType.int32, DType.int64, DType.float32, DType.float64])

/** The form of a call whose `traced` arguments are numbers that vary; null for those without one. */
export function tensorForm(entry: OperatorEntry, args: readonly Value[], traced: readonly (TracedNumber | null)[]): TensorForm | null {
  const { qualifiedName: name } = entry
  if (ON_NUMBERS.has(name)) return ofNumber(name, args, traced)
  if (name === 'aten::slice_copy.Tensor') return ofCopy(args, traced)
  return name === 'aten::slice_scatter' ? ofSlice(args, traced) : null
}

/** `add(x, n)` is `add(x, tensor(n))`. */
function ofNumber(name: string, args: readonly Value[], traced: readonly (TracedNumber | null)[]): TensorForm | null {
  const [self, value] = args
  const number = traced[1] ?? null
  if (number === null || traced.some((other, i) => other !== null && i !== 1)) return null
  // of shorter ones, a number that does not fit is another in a tensor
  if (!(self instanceof Tensor && EXACT.has(self.type)) || self.isSparse) return null
  // where the tensor has no dimensions either, the wider of both says what the result is
  if (self.dim === 0 && self.type === DType.int32) return null
  const called = linked(name.replace('.Scalar', '.Tensor'))
  const maker = value instanceof Float ? floatIn(self.type, value, number) : intIn(value!, number)
  if (maker === null || called === null) return null
  return { maker, checks: [], called, argsWith: (made) => args.with(1, made) }
}

function intIn(value: Value, number: TracedNumber): OnNumbers | null {
  const op = linked('prim::NumToTensor.Scalar')
  return op === null ? null : { op, values: [value], numbers: [number] }
}

/** Of the tensor's own dtype, as the number is rounded. Null beside ints, of which it makes floats. */
function floatIn(dtype: DType, value: Float, number: TracedNumber): OnNumbers | null {
  const op = isFloating(dtype) ? linked('aten::scalar_tensor') : null
  return op === null ? null : { op, values: [value, dtype, null, null, null], numbers: [number, null, null, null, null] }
}

/** `slice_scatter(x, part, dim, start, end)` is `index_copy(x, dim, arange(start, end), part)`, unless it counts from the end or is cut off. */
function ofSlice(args: readonly Value[], traced: readonly (TracedNumber | null)[]): TensorForm | null {
  const [self, part, dim, start, end, step] = args
  const [first, last] = [traced[3] ?? null, traced[4] ?? null]
  if (traced.some((other, i) => other !== null && i !== 3 && i !== 4)) return null
  if (!(self instanceof Tensor && part instanceof Tensor) || typeof dim !== 'number' || step !== 1) return null
  if (typeof start !== 'number' || typeof end !== 'number' || self.type !== part.type || self.quant !== null || self.isSparse) return null
  const axis = dim < 0 ? dim + self.shape.length : dim
  const isWhole = start >= 0 && end <= self.shape[axis]! && sameShape(part.shape, self.shape.with(axis, end - start))
  if (!isWhole || !isContiguous(self.shape, self.strides)) return null
  const rows = placesFrom([start, first], [end, last], self.shape[axis]!)
  const called = linked('aten::index_copy')
  return rows === null || called === null ? null : { ...rows, called, argsWith: (made) => [self, dim, made, part] }
}

/** `slice_copy(x, dim, start, end)` is `index_select(x, dim, arange(start, end))`, with the same exceptions. */
function ofCopy(args: readonly Value[], traced: readonly (TracedNumber | null)[]): TensorForm | null {
  const [self, dim, start, end, step] = args
  const [first, last] = [traced[2] ?? null, traced[3] ?? null]
  if (traced.some((other, i) => other !== null && i !== 2 && i !== 3)) return null
  if (!(self instanceof Tensor) || typeof dim !== 'number' || step !== 1 || self.quant !== null || self.isSparse) return null
  if (typeof start !== 'number' || typeof end !== 'number') return null
  const size = self.shape[dim < 0 ? dim + self.shape.length : dim]
  if (size === undefined || start < 0 || end < start || end > size) return null
  const rows = placesFrom([start, first], [end, last], size)
  const called = linked('aten::index_select')
  return rows === null || called === null ? null : { ...rows, called, argsWith: (made) => [self, dim, made] }
}

/** Places of a dimension from a number to another one, in a tensor. */
function placesFrom(
  [start, first]: readonly [number, TracedNumber | null],
  [end, last]: readonly [number, TracedNumber | null],
  size: number,
): Pick<TensorForm, 'maker' | 'checks'> | null {
  const [arange, least, most] = [linked('aten::arange.start'), linked('aten::ge.int'), linked('aten::le.int')]
  if (arange === null || least === null || most === null) return null
  const maker = { op: arange, values: [start, end, DType.int64, null, null, null], numbers: [first, last, null, null, null, null] }
  const checks = [
    { op: least, values: [start, 0], numbers: [first, null] },
    { op: most, values: [end, size], numbers: [last, null] },
  ]
  return { maker, checks }
}

function linked(name: string): LinkedOperator | null {
  const entry = calledOperator(name)
  return entry === undefined ? null : linkEntry(entry, -1)
}
