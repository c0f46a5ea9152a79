import { check } from '../../error.js'
import { type DType, dtypeName, isQuantized, itemSize } from '../../tensor/dtype.js'
import { broadcastShapes, sameShape, wrapDim } from '../../tensor/shape.js'
import { become, Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as stridedView from '../../tensor/view.js'
import * as axes from '../../tensor/view.js'
import { inferSize } from '../../tensor/view-strides.js'
import { readInts } from '../../tensor/host-values.js'
import { contiguousOf } from '../support/copy.js'
import { reshape, reshaped } from './views.js'

export function requires_grad_(self: Tensor, _requiresGrad: boolean): Tensor {
  return self
}

export function as_strided(self: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  return stridedView.asStrided(self, size, stride, offset)
}

export function as_strided_(self: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  const start = offset ?? self.offset
  v.checkStrided(self, size, stride, start)
  become(self, self.storage, start, size.slice(), stride.slice())
  return self
}

export function squeeze(self: Tensor): Tensor {
  return axes.squeeze(self)
}

/** `self` becomes a view of itself; its channels are along another dimension then. */
function regarded(self: Tensor, { shape, strides, quant }: Tensor): Tensor {
  Tensor.retype(self, self.type, quant)
  return reshaped(self, shape, strides)
}

export function squeeze_(self: Tensor): Tensor {
  return regarded(self, axes.squeeze(self))
}

export function squeeze__dim(self: Tensor, dim: number): Tensor {
  return regarded(self, axes.squeeze(self, dim))
}

export function squeeze__dims(self: Tensor, dims: number[]): Tensor {
  return regarded(self, axes.squeeze(self, dims))
}

export function unsqueeze_(self: Tensor, dim: number): Tensor {
  return regarded(self, v.unsqueeze(self, dim))
}

export function narrow_Tensor(self: Tensor, dim: number, start: Tensor, length: number): Tensor {
  check(start.shape.length === 0, () => `expected a 0-d start, found shape [${start.shape.join(', ')}]`)
  return axes.narrow(self, dim, readInts(start)[0]!, length)
}

export function broadcast_to(self: Tensor, size: number[]): Tensor {
  return v.expand(self, size)
}

export function expand_as(self: Tensor, other: Tensor): Tensor {
  return v.expand(self, other.shape)
}

export function broadcast_tensors(tensors: Tensor[]): Tensor[] {
  const shape = tensors.reduce<readonly number[]>((all, one) => broadcastShapes(all, one.shape), [])
  return tensors.map((one) => (sameShape(one.shape, shape) ? one : v.expand(one, shape)))
}

export function view_as(self: Tensor, other: Tensor): Tensor {
  return v.view(self, other.shape)
}

export function _unsafe_view(self: Tensor, size: number[]): Tensor {
  return v.view(self, size)
}

export function reshape_as(self: Tensor, other: Tensor): Tensor {
  return reshape(self, other.shape)
}

export function _reshape_alias(self: Tensor, size: number[], stride: number[]): Tensor {
  return stridedView.asStrided(self, size, stride)
}

export function ravel(self: Tensor): Tensor {
  return v.view(contiguousOf(self), [-1])
}

export function unflatten_int(self: Tensor, dim: number, sizes: number[]): Tensor {
  const d = wrapDim(dim, self.shape.length)
  check(sizes.length > 0, () => 'unflatten expects at least one size, found none')
  check(self.shape.length > 0, () => 'unflatten needs at least one dimension, found a 0-d tensor')
  return v.view(self, [...self.shape.slice(0, d), ...inferSize(sizes, self.shape[d]!), ...self.shape.slice(d + 1)])
}

/** `view.dtype`: the same bytes as another dtype; the last dimension grows or shrinks where the sizes differ. */
export function view_dtype(self: Tensor, dtype: DType): Tensor {
  check(!isQuantized(dtype) || dtype === self.type, () => `expected a plain dtype to view as, found ${dtypeName(dtype)}`)
  if (dtype === self.type) return v.alias(self)
  const from = self.itemSize
  const to = itemSize(dtype)
  if (from === to) return new Tensor(self.storage, self.offset, self.shape, self.strides, dtype)
  const rank = self.shape.length
  check(rank > 0, () => `a 0-d ${self.dtype} tensor cannot be viewed as ${dtypeName(dtype)}`)
  check(self.strides[rank - 1] === 1, () => `expected a last dimension of stride 1, found strides [${self.strides.join(', ')}]`)
  const shape = self.shape.slice()
  const convert = (n: number): number => (n * from) / to
  if (to > from) {
    const ratio = to / from
    const fits = (n: number): boolean => n % ratio === 0
    check(
      fits(shape[rank - 1]!) && fits(self.offset) && self.strides.slice(0, -1).every(fits),
      () =>
        `expected a last size, offset and strides divisible by ${ratio}, found [${shape.join(', ')}], ${self.offset} and [${self.strides.join(', ')}]`,
    )
  }
  shape[rank - 1] = convert(shape[rank - 1]!)
  const strides = self.strides.map((stride, d) => (d === rank - 1 ? 1 : convert(stride)))
  return new Tensor(self.storage, convert(self.offset), shape, strides, dtype)
}

export function _reshape_from_tensor(self: Tensor, shape: Tensor): Tensor {
  check(shape.shape.length === 1, () => `expected a 1-d tensor of sizes, found shape [${shape.shape.join(', ')}]`)
  return reshape(self, readInts(shape))
}

/** The tensor of the shape and strides of `src` that `self` is a slice of. */
export function slice_inverse(self: Tensor, src: Tensor, _dim: number, _start: number | null, _end: number | null, _step: number): Tensor {
  return stridedView.asStrided(self, src.shape, src.strides, src.offset)
}

/** Dimensions that a tensor may be given by a number alone. */
const MAX_DIMS = 64

/** A vector of channels as [1, channels, 1, ...]. */
export function _ncf_unsqueeze(self: Tensor, ndim: number): Tensor {
  check(self.dim === 1, () => `_ncf_unsqueeze: expected a vector, found shape [${self.shape.join(', ')}]`)
  check(ndim >= 2 && ndim <= MAX_DIMS, () => `_ncf_unsqueeze: expected 2 to ${MAX_DIMS} dimensions, found ${ndim}`)
  return reshape(
    self,
    Array.from({ length: ndim }, (_, d) => (d === 1 ? self.shape[0]! : 1)),
  )
}

/** One number per row of an input whose last `normalized` dimensions are normalised, as [rows..., 1, ...]. */
export function _ncf_view(self: Tensor, inputShape: number[], normalized: number): Tensor {
  const rows = inputShape.length - normalized
  return reshape(self, inputShape.map((n, d) => (d < rows ? n : 1))) // prettier-ignore
}
