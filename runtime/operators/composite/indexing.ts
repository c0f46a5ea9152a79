import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { AnyScalar } from '../../tensor/scalar.js'
import { stridesAs } from '../../tensor/iterator.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { select } from '../../tensor/view.js'
import { contiguousCopy } from '../support/copy.js'
import { anyScalarTensor } from '../support/fill.js'
import { zerosOf } from '../support/make.js'
import * as at from '../generated/dispatch.js'

/** A 0-d tensor seen as one element. */
function atLeast1d(t: Tensor): Tensor {
  return t.dim === 0 ? viewOf(t, [1], [1]) : t
}

/** torch.nonzero(as_tuple=True): one int64 list of positions per dim. */
export function nonzero_numpy(self: Tensor): Tensor[] {
  const source = atLeast1d(self)
  const rows = at.nonzero(source)
  return source.shape.map((_, d) => select(rows, 1, d))
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

/** Throws INVALID_DTYPE for masks, whose results would have sizes that depend on data. */
function checkNumbers(index: Tensor | null): void {
  if (index === null || index.type === DType.int64 || index.type === DType.int32) return
  throw new PtliteError('INVALID_DTYPE', `index: expected indices of dtype int64 or int32, found ${index.dtype}`)
}

/** self[indices] as compilers write it, without masks. */
export function _unsafe_index_Tensor(self: Tensor, indices: (Tensor | null)[]): Tensor {
  indices.forEach(checkNumbers)
  return at.index_Tensor(self, indices)
}

/** Indices brought into the range of their dimension. */
function clamped(self: Tensor, indices: readonly (Tensor | null)[]): (Tensor | null)[] {
  check(indices.length <= self.dim, () => `index: expected at most ${self.dim} indices, found ${indices.length}`)
  indices.forEach(checkNumbers)
  return indices.map((index, d) => (index === null ? null : at.clamp(index, -self.shape[d]!, self.shape[d]! - 1)))
}

/** self[indices] where the mask holds, which is broadcast to that, and `fill` elsewhere, where indices may be out of range. */
export function _unsafe_masked_index(self: Tensor, mask: Tensor, indices: (Tensor | null)[], fill: AnyScalar): Tensor {
  const places = clamped(self, indices)
  if (self.numel > 0) return at.masked_fill_Scalar(at.index_Tensor(self, places), at.logical_not(mask), fill)
  const one = viewOf(
    anyScalarTensor(fill, self.type),
    self.shape.map((n, d) => (places[d] === null || places[d] === undefined ? n : 1)),
    self.shape.map(() => 0),
  )
  const zeros = places.map((index) => (index === null ? null : zerosOf(index.shape, index.type)))
  return at.index_Tensor(one, zeros)
}

/** A copy of self in which `values` are added to self[indices] where the mask holds. */
export function _unsafe_masked_index_put_accumulate(self: Tensor, mask: Tensor, indices: (Tensor | null)[], values: Tensor): Tensor {
  if (self.numel === 0) return contiguousCopy(self)
  return at.index_put(self, clamped(self, indices), at.masked_fill_Scalar(values, at.logical_not(mask), 0), true)
}
