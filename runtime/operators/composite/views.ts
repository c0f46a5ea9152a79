import { isSparse } from '../../tensor/sparse.js'
import { check } from '../../error.js'
import { contiguousStrides } from '../../tensor/shape.js'
import { become, Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { checkChannels, flattenedShape } from '../../tensor/view.js'
import { inferSize, viewStrides } from '../../tensor/view-strides.js'
import { contiguousOf } from '../support/copy.js'

/** Operators that return another view on the memory of their argument; only `reshape` and its kin may copy. */

export {
  alias,
  alias as detach,
  view,
  permute,
  transpose as transpose_int,
  transpose as swapaxes,
  transpose as swapdims,
  select as select_int,
  slice as slice_Tensor,
  unsqueeze,
} from '../../tensor/view.js'
export {
  narrow,
  squeeze as squeeze_dim,
  squeeze as squeeze_dims,
  movedim as movedim_intlist,
  movedim as moveaxis_intlist,
} from '../../tensor/view.js'
export { unfold, diagonal } from '../../tensor/view.js'

function same(self: Tensor): Tensor {
  return self
}

/** Nothing is pending, so these return the tensor itself. */
export { same as resolve_conj, same as resolve_neg, same as detach_, same as lift_fresh }

export function reshaped(self: Tensor, shape: readonly number[], strides: readonly number[]): Tensor {
  become(self, self.storage, self.offset, shape, strides)
  return self
}

export function t(self: Tensor): Tensor {
  checkMatrix(self)
  if (isSparse(self)) return self.transposed()
  return v.transpose(self, 0, self.shape.length < 2 ? 0 : 1)
}

export function checkMatrix(self: Tensor): void {
  check(self.shape.length <= 2, () => `t() expects at most two dimensions, found shape [${self.shape.join(', ')}]`)
}

export function expand(self: Tensor, size: number[], _implicit: boolean): Tensor {
  return v.expand(self, size)
}

export function reshape(self: Tensor, size: readonly number[]): Tensor {
  const shape = inferSize(size, self.numel)
  checkChannels(self, shape)
  const strides = viewStrides(self.shape, self.strides, shape)
  if (strides !== null) return new Tensor(self.storage, self.offset, shape, strides, self.type, self.quant)
  const dense = contiguousOf(self)
  return new Tensor(dense.storage, dense.offset, shape, contiguousStrides(shape), dense.type, dense.quant)
}

export function flatten_using_ints(self: Tensor, start = 0, end = -1): Tensor {
  const shape = flattenedShape(self, start, end)
  return shape === null ? self : reshape(self, shape)
}
