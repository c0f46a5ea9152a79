import { check } from '../../error.js'
import { wrapDim } from '../../tensor/shape.js'
import { emptyLike } from '../../tensor/iterator.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'

/** The dimensions as a list without repetition. Throws INVALID_ARGUMENT for a dimension that occurs twice. */
export function distinctDims(dims: readonly number[], rank: number): number[] {
  const wrapped = dims.map((d) => wrapDim(d, rank))
  check(new Set(wrapped).size === wrapped.length, () => `expected each dimension once, found [${dims.join(', ')}]`)
  return wrapped
}

export function flip(self: Tensor, dims: readonly number[]): Tensor {
  const flipped = distinctDims(dims, self.shape.length).filter((d) => self.shape.length > 0 && self.shape[d]! > 1)
  const out = emptyLike(self)
  if (out.numel === 0) return out
  const strides = self.strides.slice()
  let offset = self.offset
  for (const d of flipped) {
    offset += (self.shape[d]! - 1) * strides[d]!
    strides[d] = -strides[d]!
  }
  copyInto(out, viewOf(self, self.shape, strides, offset))
  return out
}
