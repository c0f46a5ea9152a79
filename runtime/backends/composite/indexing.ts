import { stridesAs } from '../../tensor/iterator.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousCopy } from '../cpu/support/copy.js'
import * as at from '../generated/dispatch.js'

/** A 0-d tensor seen as one element. */
function atLeast1d(t: Tensor): Tensor {
  return t.dim === 0 ? viewOf(t, [1], [1]) : t
}

/** torch.nonzero(as_tuple=True): one int64 list of positions per dim. */
export function nonzero_numpy(self: Tensor): Tensor[] {
  const source = atLeast1d(self)
  const rows = at.nonzero(source)
  const count = rows.shape[0]!
  return source.shape.map((_, d) => viewOf(rows, [count], [source.dim], rows.offset + d))
}

/** torch.where(condition): as nonzero_numpy. */
export function where_nonzero(condition: Tensor): Tensor[] {
  return nonzero_numpy(condition)
}

/** torch.argwhere: coordinates of the elements that are not zero. */
export function argwhere(self: Tensor): Tensor {
  return at.nonzero(self)
}

/** torch.masked_scatter: a copy of `self`, broadcast with the mask, that takes `source` elements where the mask holds. */
export function masked_scatter(self: Tensor, mask: Tensor, source: Tensor): Tensor {
  const shape = broadcastShapes(self.shape, mask.shape)
  const copy = contiguousCopy(viewOf(self, shape, stridesAs(self, shape)))
  return at.masked_scatter_(copy, mask, source)
}
