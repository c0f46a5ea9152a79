import type { DTypeName } from '../runtime/tensor/dtype.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { ArgumentInfo } from '../program/signature-info.js'
import { tensor } from '../src/values/tensor.js'
import { fixedSize } from './roles.js'

/** A tensor of these numbers, in any dtype. */
export function numbers(values: readonly number[], shape: readonly number[], dtype: DTypeName): Tensor {
  return dtype === 'float16' || dtype === 'bfloat16' ? tensor(new Float32Array(values), shape).to(dtype) : tensor(values, shape, dtype)
}

/** Zeros of the sizes that an argument has; of a free one the least that there may be, along `empty` none. */
export function zerosFor({ shape = [], dtype = 'float32' }: ArgumentInfo, empty = -1): Tensor {
  const sizes = shape.map((size, i) => (i === empty ? 0 : (fixedSize(size) ?? Math.max(1, size.min))))
  const count = sizes.reduce((a, b) => a * b, 1)
  const zeros = tensor(new Float32Array(count), sizes)
  return dtype === 'float32' ? zeros : zeros.to(dtype)
}
