import { check } from '../../error.js'
import { DType, isQuantized } from '../../tensor/dtype.js'
import { preservedStrides } from '../../tensor/iterator.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import { outputFor } from '../../tensor/out.js'
import type { AnyScalar } from '../../tensor/scalar.js'
import * as newTensor from '../../tensor/tensor.js'
import type { Tensor } from '../../tensor/tensor.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'
import { checkStridedLayout } from './convert.js'

/** Operators that make tensors from sizes and numbers. The default dtype is float32. */

export function checkSizes(size: readonly number[]): void {
  check(
    size.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${size.join(', ')}]`,
  )
}

export function make(size: readonly number[], options: TensorOptions, format: number | null = null): Tensor {
  checkStridedLayout(options.layout)
  checkSizes(size)
  const type = options.dtype ?? DType.float32
  if (format === null || format === MemoryFormat.contiguous) return newTensor.empty(size.slice(), type)
  check(format !== MemoryFormat.preserve, () => 'there is no layout to preserve; expected another memory format')
  return newTensor.emptyStrided(size.slice(), stridesFor(size, format), type)
}

/** Every element the value; a quantized `out` gets what the value quantizes to. */
export function filled(out: Tensor, value: AnyScalar): Tensor {
  if (out.quant !== null) return at.fill__Scalar(out, value)
  fillScalar(out, value)
  return out
}

export function empty_memory_format(size: number[], options: TensorOptions, format: number | null): Tensor {
  return make(size, options, format)
}

export function zeros(size: number[], options: TensorOptions): Tensor {
  return filled(make(size, options), 0)
}

export { zeros as _efficientzerotensor }

export function ones(size: number[], options: TensorOptions): Tensor {
  return filled(make(size, options), 1)
}

export function resized(out: Tensor, size: readonly number[]): Tensor {
  checkSizes(size)
  return outputFor(out, size, out.type)
}

export function empty_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  const type = options.dtype ?? self.type
  check(isQuantized(type) === self.isQuantized || !isQuantized(type), () => 'empty_like cannot make a quantized tensor from a plain one')
  const keep = format === null || format === MemoryFormat.preserve
  const strides = keep ? preservedStrides(self) : stridesFor(self.shape, format)
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
