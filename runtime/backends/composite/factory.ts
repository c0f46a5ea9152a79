import { check } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { DType, dtypeName, isFloating, isQuantized } from '../../tensor/dtype.js'
import { resultStrides } from '../../tensor/iterator.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import { outputFor, resize } from '../../tensor/resize.js'
import { type AnyScalar, Complex, Float } from '../../tensor/scalar.js'
import { contiguousStrides, extentOf, numelOf } from '../../tensor/shape.js'
import * as newTensor from '../../tensor/tensor.js'
import type { Quant, Tensor } from '../../tensor/tensor.js'
import { diagonal } from '../../tensor/view.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { castTo } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import { zerosOf } from '../support/make.js'
import * as at from '../generated/dispatch.js'
import { keyOf, refuseQuantized } from '../key.js'
import { checkStridedLayout } from './convert.js'

/** Operators that make tensors from sizes and numbers. The default dtype is float32. */

export * from './sequence.js'
export * from './window.js'

function checkSizes(size: readonly number[]): void {
  check(
    size.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${size.join(', ')}]`,
  )
}

function make(size: readonly number[], options: TensorOptions, format: number | null = null): Tensor {
  checkStridedLayout(options.layout)
  checkSizes(size)
  const type = options.dtype ?? DType.float32
  if (format === null || format === MemoryFormat.contiguous) return newTensor.empty(size.slice(), type)
  check(format !== MemoryFormat.preserve, () => 'there is no layout to preserve; expected another memory format')
  return newTensor.emptyStrided(size.slice(), stridesFor(size, format), type)
}

/** Every element the value; a quantized `out` gets what the value quantizes to. */
function filled(out: Tensor, value: AnyScalar): Tensor {
  if (out.quant !== null) return at.fill__Scalar(out, value)
  fillScalar(out, value)
  return out
}

export function empty_memory_format(size: number[], options: TensorOptions, format: number | null): Tensor {
  return make(size, options, format)
}

export function empty_out(size: number[], format: number | null, out: Tensor): Tensor {
  return resize(out, size, format === null ? undefined : stridesFor(size, format))
}

export function empty_strided(size: number[], stride: number[], options: TensorOptions): Tensor {
  checkStridedLayout(options.layout)
  checkSizes(size)
  check(
    size.length === stride.length && stride.every((n) => n >= 0),
    () => `expected one stride of at least 0 per size, found sizes [${size.join(', ')}] and strides [${stride.join(', ')}]`,
  )
  const type = options.dtype ?? DType.float32
  const base = newTensor.empty([spanOf(size, stride)], type)
  return newTensor.viewOf(base, size.slice(), stride.slice())
}

/** Dense memory with the dimensions in the order of `layout`, outermost first. */
export function empty_permuted(size: number[], layout: number[], options: TensorOptions): Tensor {
  const order = [...layout].sort((a, b) => a - b)
  check(
    layout.length === size.length && order.every((d, i) => d === i),
    () => `empty_permuted: expected each of ${size.length} dimensions once, counted from 0, found [${layout.join(', ')}]`,
  )
  const inMemory = layout.map((d) => size[d]!)
  const dense = make(inMemory, options)
  const strides = size.map((_, d) => dense.strides[layout.indexOf(d)]!)
  return newTensor.viewOf(dense, size.slice(), strides)
}

function spanOf(size: readonly number[], stride: readonly number[]): number {
  return size.includes(0) ? 0 : size.reduce((last, n, d) => last + (n - 1) * stride[d]!, 1)
}

function makeQuantized(size: readonly number[], options: TensorOptions, quant: Quant, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  checkSizes(size)
  const type = options.dtype ?? DType.float32
  check(isQuantized(type), () => `expected a quantized dtype, found ${dtypeName(type)}`)
  return newTensor.emptyStrided(size.slice(), stridesFor(size, format ?? MemoryFormat.contiguous), type, quant)
}

export function _empty_affine_quantized(
  size: number[],
  options: TensorOptions,
  scale: number,
  zeroPoint: number,
  format: number | null,
): Tensor {
  return makeQuantized(size, options, { scale, zeroPoint }, format)
}

export function _empty_per_channel_affine_quantized(
  size: number[],
  scales: Tensor,
  zeroPoints: Tensor,
  axis: number,
  options: TensorOptions,
  format: number | null,
): Tensor {
  const quant = {
    axis,
    scales: Array.from(readTensor(castTo(scales, DType.float64)), Number),
    zeroPoints: Array.from(readTensor(castTo(zeroPoints, DType.float64)), Number),
    floatZeroPoints: isFloating(zeroPoints.type),
  }
  check(
    quant.scales.length === size[axis] && quant.zeroPoints.length === size[axis],
    () => `expected ${String(size[axis])} scales and zero points, found ${quant.scales.length} and ${quant.zeroPoints.length}`,
  )
  return makeQuantized(size, options, quant, format)
}

/** As `qtensor` is quantized. */
export function empty_quantized(size: number[], qtensor: Tensor, options: TensorOptions, format: number | null): Tensor {
  const { quant } = qtensor
  check(quant !== null, () => `expected a quantized tensor, found ${qtensor.dtype}`)
  return makeQuantized(size, { ...options, dtype: qtensor.type }, quant, format)
}

export function zeros(size: number[], options: TensorOptions): Tensor {
  return filled(make(size, options), 0)
}

export { zeros as _efficientzerotensor }

export function zeros_out(size: number[], out: Tensor): Tensor {
  return filled(resized(out, size), 0)
}

export function ones(size: number[], options: TensorOptions): Tensor {
  return filled(make(size, options), 1)
}

export function ones_out(size: number[], out: Tensor): Tensor {
  return filled(resized(out, size), 1)
}

function resized(out: Tensor, size: readonly number[]): Tensor {
  checkSizes(size)
  return outputFor(out, size, out.type)
}

function typeOfScalar(value: AnyScalar): DType {
  if (typeof value === 'boolean') return DType.bool
  if (value instanceof Complex) return DType.complex64
  return value instanceof Float ? DType.float32 : DType.int64
}

export function full(size: number[], value: AnyScalar, options: TensorOptions): Tensor {
  return filled(make(size, { ...options, dtype: options.dtype ?? typeOfScalar(value) }), value)
}

export function full_out(size: number[], value: AnyScalar, out: Tensor): Tensor {
  return filled(resized(out, size), value)
}

export function scalar_tensor(value: AnyScalar, options: TensorOptions): Tensor {
  return filled(make([], options), value)
}

export function empty_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  const type = options.dtype ?? self.type
  check(isQuantized(type) === self.isQuantized || !isQuantized(type), () => 'empty_like cannot make a quantized tensor from a plain one')
  const keep = format === null || format === MemoryFormat.preserve
  const strides = keep ? resultStrides(self.shape, [self]) : stridesFor(self.shape, format)
  return newTensor.emptyStrided(self.shape, strides, type, isQuantized(type) ? self.quant : null)
}

export function zeros_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return full_like(self, 0, options, format)
}

export function ones_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return full_like(self, 1, options, format)
}

export function full_like(self: Tensor, value: AnyScalar, options: TensorOptions, format: number | null): Tensor {
  return filled(empty_like(self, options, format), value)
}

/** Options of a `new_*` operator: what is not given is as in `self`. */
function optionsLike(self: Tensor, options: TensorOptions): TensorOptions {
  return options.dtype === null ? { ...options, dtype: self.type } : options
}

export function new_empty(self: Tensor, size: number[], options: TensorOptions): Tensor {
  return make(size, optionsLike(self, options))
}

export function new_empty_strided(self: Tensor, size: number[], stride: number[], options: TensorOptions): Tensor {
  return empty_strided(size, stride, optionsLike(self, options))
}

export function new_full(self: Tensor, size: number[], value: AnyScalar, options: TensorOptions): Tensor {
  return filled(make(size, optionsLike(self, options)), value)
}

export function new_zeros(self: Tensor, size: number[], options: TensorOptions): Tensor {
  return filled(make(size, optionsLike(self, options)), 0)
}

/** Zeros with the first dimensions of `self` before those of `other`, which keep their strides. */
export function _new_zeros_with_same_feature_meta(self: Tensor, other: Tensor, batchDims: number): Tensor {
  check(
    batchDims >= 0 && batchDims <= self.dim,
    () => `_new_zeros_with_same_feature_meta: expected up to ${self.dim} batch dimensions, found ${batchDims}`,
  )
  const batch = self.shape.slice(0, batchDims)
  const size = extentOf(other.shape, other.strides)
  const strides = [...contiguousStrides(batch).map((s) => s * size), ...other.strides]
  return newTensor.viewOf(zerosOf([numelOf(batch) * size], other.type), [...batch, ...other.shape], strides)
}

export function new_ones(self: Tensor, size: number[], options: TensorOptions): Tensor {
  return filled(make(size, optionsLike(self, options)), 1)
}

export function eye(n: number, options: TensorOptions): Tensor {
  return eye_m(n, n, options)
}

export function eye_m(n: number, m: number, options: TensorOptions): Tensor {
  return withOnes(make([n, m], options))
}

export function eye_out(n: number, out: Tensor): Tensor {
  return withOnes(resized(out, [n, n]))
}

export function eye_m_out(n: number, m: number, out: Tensor): Tensor {
  return withOnes(resized(out, [n, m]))
}

function withOnes(out: Tensor): Tensor {
  refuseQuantized('aten::eye', keyOf(out))
  fillScalar(out, 0)
  fillScalar(diagonal(out), 1)
  return out
}
