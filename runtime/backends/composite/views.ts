import { check, PtliteError } from '../../error.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { DType, dtypeName, isComplex, isQuantized, itemSize } from '../../tensor/dtype.js'
import { broadcastShapes, contiguousStrides, wrapDim } from '../../tensor/shape.js'
import { become, empty, Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { inferSize, viewStrides } from '../../tensor/view-strides.js'
import { readInts } from '../../tensor/host-values.js'
import { contiguousOf, copyInto } from '../cpu/support/copy.js'
import * as at from '../generated/dispatch.js'

/** Operators that return another view on the memory of their argument; only `reshape` and its kin may copy. */

export {
  alias,
  alias as detach,
  alias as lift_fresh,
  view,
  permute,
  transpose as transpose_int,
  transpose as swapaxes,
  transpose as swapdims,
  select as select_int,
  slice as slice_Tensor,
  narrow,
  squeeze as squeeze_dim,
  squeeze as squeeze_dims,
  unsqueeze,
  unfold,
  diagonal,
  movedim as movedim_intlist,
  movedim as moveaxis_intlist,
} from '../../tensor/view.js'

function same(self: Tensor): Tensor {
  return self
}

/** Conjugates are computed at once: PyTorch's are views with a flag that the first operator resolves. Real tensors are their own. */
export function conj(self: Tensor): Tensor {
  return isComplex(self.type) ? at._conj_physical(self) : self
}

export function _conj(self: Tensor): Tensor {
  return isComplex(self.type) ? at._conj_physical(self) : v.alias(self)
}

/** Nothing is pending, so these return the tensor itself. */
export { same as resolve_conj, same as resolve_neg, same as detach_ }

export function requires_grad_(self: Tensor, _requiresGrad: boolean): Tensor {
  return self
}

export function _neg_view(_self: Tensor): Tensor {
  throw new PtliteError('INVALID_ARGUMENT', 'negated views are not supported; use neg')
}

export function as_strided(self: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  return v.asStrided(self, size, stride, offset)
}

export function as_strided_(self: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  const start = offset ?? self.offset
  v.checkStrided(self, size, stride, start)
  become(self, self.storage, start, size.slice(), stride.slice())
  return self
}

function reshaped(self: Tensor, shape: readonly number[], strides: readonly number[]): Tensor {
  become(self, self.storage, self.offset, shape, strides)
  return self
}

export function transpose_(self: Tensor, dim0: number, dim1: number): Tensor {
  return reshaped(self, ...v.transposed(self, dim0, dim1))
}

export { transpose_ as swapaxes_, transpose_ as swapdims_ }

export function t(self: Tensor): Tensor {
  checkMatrix(self)
  return v.transpose(self, 0, self.shape.length < 2 ? 0 : 1)
}

export function t_(self: Tensor): Tensor {
  checkMatrix(self)
  return transpose_(self, 0, self.shape.length < 2 ? 0 : 1)
}

function checkMatrix(self: Tensor): void {
  check(self.shape.length <= 2, () => `t() expects at most two dimensions, found shape [${self.shape.join(', ')}]`)
}

/** All dimensions in reverse order. */
export function numpy_T(self: Tensor): Tensor {
  return v.permute(
    self,
    self.shape.map((_, d) => self.shape.length - 1 - d),
  )
}

export { numpy_T as numpy_T_a }

export function mT(self: Tensor): Tensor {
  if (self.shape.length === 0) return v.alias(self)
  check(self.shape.length >= 2, () => `mT expects at least two dimensions, found shape [${self.shape.join(', ')}]`)
  return v.transpose(self, -2, -1)
}

export { mT as mH }

export function adjoint(self: Tensor): Tensor {
  return mT(self)
}

export function matrix_H(self: Tensor): Tensor {
  check(self.shape.length === 2 || self.shape.length === 0, () => `H expects a matrix, found shape [${self.shape.join(', ')}]`)
  return adjoint(self)
}

export function squeeze(self: Tensor): Tensor {
  return v.squeeze(self)
}

/** `self` becomes a view of itself; its channels are along another dimension then. */
function regarded(self: Tensor, { shape, strides, quant }: Tensor): Tensor {
  Tensor.retype(self, self.type, quant)
  return reshaped(self, shape, strides)
}

export function squeeze_(self: Tensor): Tensor {
  return regarded(self, v.squeeze(self))
}

export function squeeze__dim(self: Tensor, dim: number): Tensor {
  return regarded(self, v.squeeze(self, dim))
}

export function squeeze__dims(self: Tensor, dims: number[]): Tensor {
  return regarded(self, v.squeeze(self, dims))
}

export function unsqueeze_(self: Tensor, dim: number): Tensor {
  return regarded(self, v.unsqueeze(self, dim))
}

export function narrow_Tensor(self: Tensor, dim: number, start: Tensor, length: number): Tensor {
  check(start.shape.length === 0, () => `expected a 0-d start, found shape [${start.shape.join(', ')}]`)
  check(start.type !== DType.bool, () => 'expected an integral start, found bool')
  return v.narrow(self, dim, readInts(start)[0]!, length)
}

export function movedim_int(self: Tensor, source: number, destination: number): Tensor {
  return v.movedim(self, [source], [destination])
}

export { movedim_int as moveaxis_int }

export function expand(self: Tensor, size: number[], _implicit: boolean): Tensor {
  return v.expand(self, size)
}

export function broadcast_to(self: Tensor, size: number[]): Tensor {
  return v.expand(self, size)
}

export function expand_as(self: Tensor, other: Tensor): Tensor {
  return v.expand(self, other.shape)
}

export function broadcast_tensors(tensors: Tensor[]): Tensor[] {
  const shape = tensors.reduce<readonly number[]>((all, one) => broadcastShapes(all, one.shape), [])
  return tensors.map((one) => v.expand(one, shape))
}

export function linalg_diagonal(self: Tensor, offset: number, dim1: number, dim2: number): Tensor {
  return v.diagonal(self, offset, dim1, dim2)
}

export function view_as(self: Tensor, other: Tensor): Tensor {
  return v.view(self, other.shape)
}

export function _unsafe_view(self: Tensor, size: number[]): Tensor {
  return v.view(self, size)
}

export function reshape(self: Tensor, size: readonly number[]): Tensor {
  const shape = inferSize(size, self.numel)
  v.checkChannels(self, shape)
  const strides = viewStrides(self.shape, self.strides, shape)
  if (strides !== null) return new Tensor(self.storage, self.offset, shape, strides, self.type, self.quant)
  const dense = contiguousOf(self)
  return new Tensor(dense.storage, dense.offset, shape, contiguousStrides(shape), dense.type, dense.quant)
}

export function reshape_as(self: Tensor, other: Tensor): Tensor {
  return reshape(self, other.shape)
}

export function _reshape_alias(self: Tensor, size: number[], stride: number[]): Tensor {
  return v.asStrided(self, size, stride)
}

export function flatten_using_ints(self: Tensor, start = 0, end = -1): Tensor {
  const shape = v.flattenedShape(self, start, end)
  return shape === null ? self : reshape(self, shape)
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

export function atleast_1d(self: Tensor): Tensor {
  return self.shape.length === 0 ? reshape(self, [1]) : self
}

export function atleast_2d(self: Tensor): Tensor {
  if (self.shape.length === 0) return reshape(self, [1, 1])
  return self.shape.length === 1 ? v.unsqueeze(self, 0) : self
}

export function atleast_3d(self: Tensor): Tensor {
  if (self.shape.length === 0) return reshape(self, [1, 1, 1])
  if (self.shape.length === 1) return v.unsqueeze(v.unsqueeze(self, 0), -1)
  return self.shape.length === 2 ? v.unsqueeze(self, -1) : self
}

export function atleast_1d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_1d)
}

export function atleast_2d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_2d)
}

export function atleast_3d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_3d)
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

/** The real parts as a view; a real tensor is its own. */
export function real(self: Tensor): Tensor {
  return isComplex(self.type) ? partOf(self, 0) : self
}

/** The imaginary parts as a view. */
export function imag(self: Tensor): Tensor {
  if (isComplex(self.type)) return partOf(self, 1)
  throw new PtliteError('INVALID_DTYPE', `imag is not implemented for tensors of dtype ${self.dtype}`)
}

export function view_as_real(self: Tensor): Tensor {
  return viewAsReal(self)
}

export function view_as_complex(self: Tensor): Tensor {
  return viewAsComplex(self)
}

/** A complex tensor of these parts, broadcast to one shape. */
export function complex(realPart: Tensor, imaginary: Tensor): Tensor {
  const { type } = realPart
  if ((type !== DType.float32 && type !== DType.float64) || imaginary.type !== type) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `complex: expected two float32 or two float64 tensors, found ${realPart.dtype} and ${imaginary.dtype}`,
    )
  }
  const result = viewAsComplex(empty([...broadcastShapes(realPart.shape, imaginary.shape), 2], type))
  copyInto(partOf(result, 0), realPart)
  copyInto(partOf(result, 1), imaginary)
  return result
}

/** A complex tensor from its magnitudes and angles. */
export function polar(magnitude: Tensor, angle: Tensor): Tensor {
  return complex(at.mul_Tensor(magnitude, at.cos(angle)), at.mul_Tensor(magnitude, at.sin(angle)))
}

/** The tensor of the shape and strides of `src` that `self` is a slice of. */
export function slice_inverse(self: Tensor, src: Tensor, _dim: number, _start: number | null, _end: number | null, _step: number): Tensor {
  return v.asStrided(self, src.shape, src.strides, src.offset)
}

/** Dimensions that a tensor may be given by a number alone. */
const MOST_DIMS = 64

/** A vector of channels as [1, channels, 1, ...]. */
export function _ncf_unsqueeze(self: Tensor, ndim: number): Tensor {
  check(self.dim === 1, () => `_ncf_unsqueeze: expected a vector, found shape [${self.shape.join(', ')}]`)
  check(ndim >= 2 && ndim <= MOST_DIMS, () => `_ncf_unsqueeze: expected 2 to ${MOST_DIMS} dimensions, found ${ndim}`)
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
