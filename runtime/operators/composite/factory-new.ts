import { check } from '../../error.js'
import type { TensorOptions } from '../../tensor/options.js'
import type { AnyScalar } from '../../tensor/scalar.js'
import { contiguousStrides, extentOf, numelOf } from '../../tensor/shape.js'
import * as newTensor from '../../tensor/tensor.js'
import type { Tensor } from '../../tensor/tensor.js'
import { zerosOf } from '../support/make.js'
import { filled, make } from './factory.js'
import { empty_strided } from './factory-out.js'

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
