import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { itemOf } from '../../tensor/data.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { filled, zerosOf } from '../support/make.js'
import { inFormat, numbersOf } from '../support/quantization.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { view } from '../../tensor/view.js'

/** Quantization into plain integers, by parameters that are arguments (torch/ao/quantization/fx/_decomposed.py). */

const BOUNDS: Readonly<Partial<Record<DType, readonly [min: number, max: number]>>> = {
  [DType.uint8]: [0, 255],
  [DType.int8]: [-128, 127],
  [DType.int16]: [-32768, 32767],
  [DType.int32]: [-(2 ** 31), 2 ** 31 - 1],
}

function boundsOf(type: DType): readonly [min: number, max: number] {
  const bounds = BOUNDS[type]
  if (bounds === undefined) throw new PtliteError('INVALID_DTYPE', `expected uint8, int8, int16 or int32, found ${dtypeName(type)}`)
  return bounds
}

function checkBounds(min: number, max: number, type: DType): void {
  const [low, high] = boundsOf(type)
  check(min >= low && max <= high, () => `quant_min ${min} and quant_max ${max} are outside of ${dtypeName(type)}`)
}

/** float32, which halves are converted to. */
function asFloat(x: Tensor): Tensor {
  const good = x.type === DType.float32 || x.type === DType.float16 || x.type === DType.bfloat16
  if (!good) throw new PtliteError('INVALID_DTYPE', `expected a float32 tensor to quantize, found ${x.dtype}`)
  return castTo(x, DType.float32)
}

function checkType(x: Tensor, type: DType): void {
  if (x.type !== type) throw new PtliteError('INVALID_DTYPE', `expected a ${dtypeName(type)} tensor to dequantize, found ${x.dtype}`)
}

function single(t: Tensor, what: string): number {
  check(t.numel === 1, () => `expected one element of ${what}, found ${t.numel}`)
  return numbersOf(t)[0]!
}

const KERNEL_TYPES: Readonly<Partial<Record<DType, DType>>> = {
  [DType.uint8]: DType.quint8,
  [DType.int8]: DType.qint8,
  [DType.int32]: DType.qint32,
}

export function quantize_per_tensor(x: Tensor, scale: number, zeroPoint: number, min: number, max: number, type: DType): Tensor {
  const source = asFloat(x)
  checkBounds(min, max, type)
  const inverse = 1 / scale
  const [low, high] = boundsOf(type)
  const kernelType = KERNEL_TYPES[type]
  if (kernelType !== undefined && min === low && max === high && zeroPoint >= low && zeroPoint <= high) {
    const dense = inFormat(source)
    const out = emptyStrided(x.shape, dense.strides, type)
    kernels.quantize({
      n: x.numel,
      dtype: kernelType,
      zero_point: zeroPoint,
      inv_scale: Math.fround(inverse),
      in: dense.address,
      out: out.address,
    })
    return out
  }
  const integers = at.add_Scalar(at.round(at.mul_Scalar(source, new Float(inverse))), zeroPoint, 1)
  return castTo(at.clamp(integers, min, max), type)
}

/** A tensor of one element without dimensions, which gives a result none. */
function number(t: Tensor, what: string): Tensor {
  check(t.numel === 1, () => `expected one element of ${what}, found ${t.numel}`)
  return view(contiguousOf(t), [])
}

/** No number of the tensors is looked at, so that a plan can have this. */
export function quantize_per_tensor_tensor(x: Tensor, scale: Tensor, zeroPoint: Tensor, min: number, max: number, type: DType): Tensor {
  checkBounds(min, max, type)
  const inverse = castTo(at.reciprocal(castTo(number(scale, 'scale'), DType.float64)), DType.float32)
  const integers = at.add_Tensor(at.round(at.mul_Tensor(asFloat(x), inverse)), number(zeroPoint, 'zero_point'), 1)
  return castTo(at.clamp(integers, min, max), type)
}

export function quantize_per_tensor_tensor2(x: Tensor, scale: Tensor, zeroPoint: Tensor, min: Tensor, max: Tensor, type: DType): Tensor {
  return quantize_per_tensor_tensor(x, scale, zeroPoint, single(min, 'quant_min'), single(max, 'quant_max'), type)
}

export const dequantize_per_tensor: Composite['dequantize_per_tensor'] = (x, scale, zeroPoint, _min, _max, type, outType) => {
  checkType(x, type)
  boundsOf(type)
  const numbers = castTo(x, outType ?? DType.float32)
  return at.mul_Scalar(at.sub_Scalar(numbers, zeroPoint, 1), new Float(scale))
}

export const dequantize_per_tensor_tensor: Composite['dequantize_per_tensor_tensor'] = (x, scale, zeroPoint, _min, _max, type, outType) => {
  checkType(x, type)
  boundsOf(type)
  const numbers = castTo(x, outType ?? DType.float32)
  return at.mul_Tensor(at.sub_Tensor(numbers, number(zeroPoint, 'zero_point'), 1), number(scale, 'scale'))
}

export const dequantize_per_tensor_tensor2: Composite['dequantize_per_tensor_tensor2'] = (x, scale, zeroPoint, min, max, type, outType) =>
  dequantize_per_tensor_tensor(x, scale, zeroPoint, single(min, 'quant_min'), single(max, 'quant_max'), type, outType)

/** Smallest and largest element, both 0 or beyond it, as vectors of one element. */
function rangeOf(x: Tensor, min: number, max: number, type: DType): [Tensor, Tensor] {
  const source = view(contiguousOf(asFloat(x)), [x.numel])
  boundsOf(type)
  check(min <= 0 && max >= 0 && min < max, () => `expected quantized integers around 0, found ${min} to ${max}`)
  check(x.numel > 0, () => 'a tensor without elements has no range')
  return [at.clamp(at.amin(source, [0], true), null, 0), at.clamp(at.amax(source, [0], true), 0, null)]
}

/** A quotient of a range and a number of steps, which is at least `eps`. */
function scaleOf(range: Tensor, steps: number, eps: number): Tensor {
  return at.clamp(at.div_Scalar(range, new Float(steps)), new Float(eps), null)
}

/** A scale and a zero point over the range of `x`; no scale is below `eps`. No number is looked at, so that a plan can have this. */
export function choose_qparams_tensor(x: Tensor, min: number, max: number, eps: number, type: DType): [Tensor, Tensor] {
  const [low, high] = rangeOf(x, min, max, type)
  const scale = scaleOf(at.sub_Tensor(high, low, 1), max - min, eps)
  // float32 has not all integers of 32 bits
  const steps = castTo(at.round(at.div_Tensor(low, scale)), DType.float64)
  const zero = at.clamp(at.rsub_Scalar(steps, min, 1), min, max)
  return [castTo(scale, DType.float64), castTo(zero, DType.int64)]
}

/** The same with a range that is as wide on both sides of zero. */
export function choose_qparams_symmetric_tensor(x: Tensor, min: number, max: number, eps: number, type: DType): [Tensor, Tensor] {
  const [low, high] = rangeOf(x, min, max, type)
  const scale = scaleOf(at.maximum(at.neg(low), high), (max - min) / 2, eps)
  const zero = filled([1], DType.int64, type === DType.uint8 ? 128 : 0)
  return [castTo(scale, DType.float64), zero]
}

/** A vector along dimension `axis` of a tensor of `rank` dimensions. */
function along(t: Tensor, axis: number, rank: number): Tensor {
  check(t.dim === 1, () => `expected a vector of parameters, found shape [${t.shape.join(', ')}]`)
  return view(
    contiguousOf(t),
    Array.from({ length: rank }, (_, d) => (d === axis ? t.numel : 1)),
  )
}

function checkAxis(x: Tensor, axis: number, ...parameters: (Tensor | null)[]): void {
  check(axis >= 0 && axis < x.dim, () => `expected an axis below ${x.dim}, found ${axis}`)
  for (const t of parameters) {
    check(t === null || t.numel === x.shape[axis], () => `expected ${x.shape[axis]} parameters, found ${t!.numel}`)
  }
}

export const quantize_per_channel: Composite['quantize_per_channel'] = (x, scales, zeroPoints, axis, min, max, type) => {
  const source = asFloat(x)
  checkBounds(min, max, type)
  checkAxis(x, axis, scales, zeroPoints)
  const inverse = at.reciprocal(along(scales, axis, x.dim))
  const integers = at.add_Tensor(at.round(at.mul_Tensor(source, inverse)), along(zeroPoints, axis, x.dim), 1)
  return castTo(at.clamp(integers, min, max), type)
}

export const dequantize_per_channel: Composite['dequantize_per_channel'] = (x, scales, zeroPoints, axis, min, max, type, outType) => {
  checkType(x, type)
  checkBounds(min, max, type)
  checkAxis(x, axis, scales, zeroPoints)
  const moved = zeroPoints === null ? x : at.sub_Tensor(x, along(zeroPoints, axis, x.dim), 1)
  return castTo(at.mul_Tensor(moved, along(scales, axis, x.dim)), outType ?? DType.float32)
}

const LEAST_TOKEN_SCALE = new Float(1e-5)

/** Scales of rows, so that the largest element becomes 127. */
export function choose_qparams_per_token(x: Tensor, type: DType): [Tensor, Tensor] {
  if (type !== DType.int8) throw new PtliteError('INVALID_DTYPE', `choose_qparams_per_token: expected int8, found ${dtypeName(type)}`)
  const largest = at.amax(at.abs(x), [-1], true)
  const wide = largest.type === DType.float16 ? castTo(largest, DType.float32) : largest
  const scales = at.div_Scalar(at.clamp(wide, LEAST_TOKEN_SCALE, null), 127)
  return [scales, zerosOf(scales.shape, scales.type)]
}

const EPSILON = new Float(2 ** -23)

/** Scales and zero points of rows for int8, as XNNPACK chooses them. */
export function _choose_qparams_per_token_asymmetric_impl(x: Tensor, _type: DType): [Tensor, Tensor] {
  const low = at.clamp(at.amin(x, [-1], true), null, 0)
  const high = at.clamp(at.amax(x, [-1], true), 0, null)
  const scale = at.clamp(at.div_Scalar(at.sub_Tensor(high, low, 1), new Float(255)), EPSILON, null)
  const [fromLow, fromHigh] = [at.div_Tensor(low, scale), at.div_Tensor(high, scale)]
  const error = at.add_Tensor(at.add_Scalar(fromLow, -128, 1), at.add_Scalar(fromHigh, 127, 1), 1)
  const zero = at.where_self(at.gt_Scalar(error, 0), at.rsub_Scalar(fromLow, -128, 1), at.rsub_Scalar(fromHigh, 127, 1))
  return [castTo(scale, DType.float64), castTo(at.round(at.clamp(zero, -128, 127)), DType.int64)]
}

export { _choose_qparams_per_token_asymmetric_impl as choose_qparams_per_token_asymmetric }

function quantizeRows(x: Tensor, scales: Tensor, zeroPoints: Tensor, min: number, max: number, type: DType): Tensor {
  const moved = at.add_Tensor(at.mul_Tensor(x, at.reciprocal(scales)), zeroPoints, 1)
  return castTo(at.clamp(at.round(moved), min, max), type)
}

export function quantize_per_token(x: Tensor, scales: Tensor, zeroPoints: Tensor, min: number, max: number, type: DType): Tensor {
  checkBounds(min, max, type)
  const rows = x.shape.slice(0, -1).reduce((a, b) => a * b, 1)
  check(
    scales.numel === rows && zeroPoints.numel === rows,
    () => `expected ${rows} scales and zero points, found ${scales.numel} and ${zeroPoints.numel}`,
  )
  return quantizeRows(x, scales, zeroPoints, min, max, type)
}

export const dequantize_per_token: Composite['dequantize_per_token'] = (x, scales, zeroPoints, _min, _max, _type, outType) =>
  castTo(at.mul_Tensor(at.sub_Tensor(x, zeroPoints, 1), scales), outType)

/** Rows of `x` cut into groups, and parameters as a column. */
function grouped(x: Tensor, size: number, scales: Tensor): [rows: Tensor, column: (t: Tensor) => Tensor] {
  check(x.dim === 2, () => `expected a matrix, found shape [${x.shape.join(', ')}]`)
  check(size > 1, () => `expected groups of more than one element, found ${size}`)
  const width = x.shape[1]!
  const group = size > width && scales.shape.at(-1) === 1 ? width : size
  check(group > 0 && width % group === 0, () => `rows of ${width} elements cannot be cut into groups of ${group}`)
  return [view(contiguousOf(x), [x.numel / group, group]), (t) => view(contiguousOf(t), [t.numel, 1])]
}

export const quantize_per_channel_group: Composite['quantize_per_channel_group'] = (x, scales, zeroPoints, min, max, type, size) => {
  const [rows, column] = grouped(x, size, scales)
  check(itemOf(at.any(at.isnan(rows))) === false, () => 'expected numbers to quantize, found NaN')
  return view(quantizeRows(rows, column(scales), column(zeroPoints), min, max, type), x.shape)
}

export const dequantize_per_channel_group: Composite['dequantize_per_channel_group'] = (
  x,
  scales,
  zeroPoints,
  _min,
  _max,
  _type,
  size,
  outType,
) => {
  const [rows, column] = grouped(x, size, scales)
  const moved = zeroPoints === null ? castTo(rows, DType.int32) : at.sub_Tensor(rows, column(zeroPoints), 1)
  return castTo(view(contiguousOf(at.mul_Tensor(moved, column(scales))), x.shape), outType)
}

export function fake_quant_per_channel(x: Tensor, scales: Tensor, zeroPoints: Tensor, axis: number, min: number, max: number): Tensor {
  if (x.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `expected a float32 tensor, found ${x.dtype}`)
  checkAxis(x, axis, scales, zeroPoints)
  const scale = along(castTo(scales, DType.float32), axis, x.dim)
  const zero = along(castTo(zeroPoints, DType.int32), axis, x.dim)
  const integers = at.add_Tensor(at.round(at.mul_Tensor(x, at.reciprocal(scale))), zero, 1)
  return at.mul_Tensor(at.sub_Tensor(at.clamp(integers, min, max), zero, 1), scale)
}

export function convert_element_type_no_fuse(x: Tensor, type: DType): Tensor {
  return castTo(x, type)
}
