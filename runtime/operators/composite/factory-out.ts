import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { TensorOptions } from '../../tensor/options.js'
import { resize } from '../../tensor/out.js'
import { type AnyScalar, Complex, Float } from '../../tensor/scalar.js'
import * as newTensor from '../../tensor/tensor.js'
import type { Tensor } from '../../tensor/tensor.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { checkStridedLayout } from './convert.js'
import { checkSizes, filled, make, resized } from './factory.js'

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

export function zeros_out(size: number[], out: Tensor): Tensor {
  return filled(resized(out, size), 0)
}

export function ones_out(size: number[], out: Tensor): Tensor {
  return filled(resized(out, size), 1)
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
