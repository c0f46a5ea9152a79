import { check } from '../error.js'
import { canCast, dtypeName, type DType } from './dtype.js'
import { contiguousStrides, extentOf, numelOf, sameShape } from './shape.js'
import { roomFor } from './room.js'
import { become, empty, type Tensor } from './tensor.js'

/**
 * Gives `self` this shape in place (`resize_`): what fits keeps its elements in storage order, new elements are
 * undefined. A storage that is too small grows, for all that view it. A tensor that has the shape keeps its strides unless others are given.
 */
export function resize(self: Tensor, shape: readonly number[], given?: readonly number[]): Tensor {
  if (given === undefined && sameShape(self.shape, shape)) return self
  const strides = given ?? contiguousStrides(shape)
  check(
    shape.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${shape.join(', ')}]`,
  )
  const needed = numelOf(shape) === 0 ? 0 : (self.offset + extentOf(shape, strides)) * self.itemSize
  become(self, roomFor(self, needed, true), self.offset, shape.slice(), strides.slice())
  return self
}

/**
 * Where an operator writes a result of this shape and dtype: a new tensor without `out`, else `out`, resized to the
 * shape where it differs. Throws INVALID_ARGUMENT where the dtype cannot be written into `out`.
 */
export function outputFor(out: Tensor | undefined, shape: readonly number[], dtype: DType): Tensor {
  if (out === undefined) return empty(shape, dtype)
  check(canCast(dtype, out.type), () => `a result of dtype ${dtypeName(dtype)} cannot be written into an out tensor of dtype ${out.dtype}`)
  return sameShape(out.shape, shape) ? out : resize(out, shape)
}
