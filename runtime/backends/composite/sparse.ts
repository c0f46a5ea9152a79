import { check, PtliteError } from '../../error.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { readInts, tensorOfInts } from '../../tensor/host-values.js'
import { Layout, type TensorOptions } from '../../tensor/options.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { contiguousStrides, numelOf, shapeText, wrapDim } from '../../tensor/shape.js'
import { SparseTensor } from '../../tensor/sparse.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'

/** Sparse tensors in coordinate form: made, put in order and made dense. All other operators take dense tensors. */

function sparse(self: Tensor): SparseTensor {
  if (!(self instanceof SparseTensor)) throw new PtliteError('INVALID_ARGUMENT', `expected a sparse tensor, found a dense one`)
  return self
}

function checkParts(indices: Tensor, values: Tensor): void {
  check(indices.type === DType.int64, () => `expected int64 indices, found ${indices.dtype}`)
  check(indices.dim === 2, () => `expected indices of shape [dimensions, count], found [${indices.shape.join(', ')}]`)
  const count = values.shape[0] ?? 0
  check(values.dim > 0 && count === indices.shape[1], () => `expected as many values as indices, found ${count} and ${indices.shape[1]}`)
}

/** The greatest index of each sparse dimension, -1 where there is none. Throws INVALID_ARGUMENT for negative ones. */
function greatest(indices: Tensor): number[] {
  const [dims, count] = indices.shape as [number, number]
  const all = readInts(indices)
  return Array.from({ length: dims }, (_, d) => {
    let most = -1
    for (let i = 0; i < count; i++) {
      const index = all[d * count + i]!
      check(index >= 0, () => `found the negative index ${index} in dimension ${d}`)
      most = Math.max(most, index)
    }
    return most
  })
}

/** The smallest shape that holds all indices; `isCoalesced` tells that they are in order and occur once, which is not checked. */
export function sparse_coo_tensor_indices(indices: Tensor, values: Tensor, _options: TensorOptions, isCoalesced: boolean | null): Tensor {
  checkParts(indices, values)
  const shape = [...greatest(indices).map((n) => n + 1), ...values.shape.slice(1)]
  return new SparseTensor(indices, values, shape, isCoalesced === true)
}

export const sparse_coo_tensor_indices_size: Composite['sparse_coo_tensor_indices_size'] = (
  indices,
  values,
  size,
  _options,
  isCoalesced,
) => {
  checkParts(indices, values)
  const dims = indices.shape[0]!
  check(
    size.length === dims + values.dim - 1 && values.shape.slice(1).every((n, d) => n === size[dims + d]),
    () => `expected a size of ${dims} sparse dimensions and then [${values.shape.slice(1).join(', ')}], found [${size.join(', ')}]`,
  )
  greatest(indices).forEach((n, d) => check(n < size[d]!, () => `found index ${n} in dimension ${d} of size ${size[d]}`))
  return new SparseTensor(indices, values, size.slice(), isCoalesced === true)
}

export { sparse_coo_tensor_indices_size as _sparse_coo_tensor_unsafe }

/** No values, all dimensions sparse. */
export function sparse_coo_tensor_size(size: number[], options: TensorOptions): Tensor {
  check(
    size.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${size.join(', ')}]`,
  )
  return new SparseTensor(empty([size.length, 0], DType.int64), empty([0], options.dtype ?? DType.float32), size.slice(), false)
}

/** The place of each coordinate among the sparse dimensions, counted row by row. */
function places(self: SparseTensor): number[] {
  const steps = contiguousStrides(self.shape.slice(0, self.sparseDim))
  const all = readInts(self.indices)
  return Array.from({ length: self.count }, (_, i) => steps.reduce((at, step, d) => at + step * all[d * self.count + i]!, 0))
}

/** The same values in row-major order, those of equal coordinates added. */
export function coalesce(self: Tensor): Tensor {
  const source = sparse(self)
  return source.coalesced ? source : _coalesce(source)
}

export function _coalesce(self: Tensor): Tensor {
  const source = sparse(self)
  const at_ = places(source)
  const order = [...new Set(at_)].sort((a, b) => a - b)
  const rank = new Map(order.map((place, i) => [place, i]))
  const values = zerosOf([order.length, ...source.values.shape.slice(1)], source.type)
  at.index_add_(values, 0, tensorOfInts(at_.map((place) => rank.get(place)!)), source.values, 1)
  const sizes = source.shape.slice(0, source.sparseDim)
  const steps = contiguousStrides(sizes)
  const indices = sizes.flatMap((size, d) => order.map((place) => Math.floor(place / steps[d]!) % size))
  return new SparseTensor(tensorOfInts(indices, [source.sparseDim, order.length]), values, source.shape, true)
}

export function is_coalesced(self: Tensor): boolean {
  return sparse(self).coalesced
}

export function _coalesced_(self: Tensor, coalesced: boolean): Tensor {
  sparse(self).coalesced = coalesced
  return self
}

function shared(part: Tensor): Tensor {
  return viewOf(part, part.shape, part.strides)
}

export function _indices(self: Tensor): Tensor {
  return shared(sparse(self).indices)
}

export function _values(self: Tensor): Tensor {
  return shared(sparse(self).values)
}

function ordered(self: Tensor): SparseTensor {
  const source = sparse(self)
  check(source.coalesced, () => 'expected a coalesced tensor: call coalesce() first')
  return source
}

export function indices(self: Tensor): Tensor {
  return shared(ordered(self).indices)
}

export function values(self: Tensor): Tensor {
  return shared(ordered(self).values)
}

export function sparse_dim(self: Tensor): number {
  return sparse(self).sparseDim
}

export function dense_dim(self: Tensor): number {
  return sparse(self).values.dim - 1
}

export { sparse_dim as _dimI, dense_dim as _dimV }

export function _nnz(self: Tensor): number {
  return sparse(self).count
}

/** Takes all values out and gives the tensor another shape. */
export function sparse_resize_and_clear_(self: Tensor, size: number[], sparseDim: number, denseDim: number): Tensor {
  check(sparseDim + denseDim === size.length, () => `expected ${sparseDim} + ${denseDim} sizes, found ${size.length}`)
  const target = sparse(self)
  target.replace(empty([sparseDim, 0], DType.int64), empty([0, ...size.slice(sparseDim)], target.type), size.slice())
  target.coalesced = true
  return self
}

/** The dense tensor with the same elements. */
export function sparseToDense(self: SparseTensor): Tensor {
  const sizes = self.shape.slice(0, self.sparseDim)
  const dense = zerosOf([numelOf(sizes), ...self.values.shape.slice(1)], self.type)
  at.index_add_(dense, 0, tensorOfInts(places(self)), self.values, 1)
  return viewOf(dense, self.shape, contiguousStrides(self.shape))
}

/** The last `denseDim` dimensions stay whole; only coordinates as layout. */
export function to_sparse(self: Tensor, layout: number | null, blocksize: number[] | null, denseDim: number | null): Tensor {
  check((layout ?? Layout.sparse) === Layout.sparse, () => `to_sparse: expected the layout sparse_coo, found number ${layout!}`)
  check(blocksize === null, () => 'to_sparse: blocks belong to other layouts than sparse_coo')
  check(denseDim === null || !(self instanceof SparseTensor), () => 'to_sparse: a sparse tensor keeps its dense dimensions')
  check(
    denseDim === null || (denseDim >= 0 && denseDim <= self.dim),
    () => `expected 0 to ${self.dim} dense dimensions, found ${denseDim!}`,
  )
  return to_sparse_sparse_dim(self, self.dim - (denseDim ?? 0))
}

/** The blocks of the trailing dimensions that are not all zero. */
export function to_sparse_sparse_dim(self: Tensor, sparseDim: number): Tensor {
  check(sparseDim >= 0 && sparseDim <= self.dim, () => `expected 0 to ${self.dim} sparse dimensions, found ${sparseDim}`)
  if (self instanceof SparseTensor) return self
  const sizes = self.shape.slice(0, sparseDim)
  const block = self.shape.slice(sparseDim)
  const rows = viewOf(contiguousOf(self), [numelOf(sizes), numelOf(block)], [Math.max(numelOf(block), 1), 1])
  const found = readInts(at.nonzero(rows))
  const places = [...new Set(found.filter((_, i) => i % 2 === 0))]
  const steps = contiguousStrides(sizes)
  const coordinates = sizes.flatMap((size, d) => places.map((place) => Math.floor(place / steps[d]!) % size))
  const taken = at.index_select(rows, 0, tensorOfInts(places))
  const shape = [places.length, ...block]
  return new SparseTensor(
    tensorOfInts(coordinates, [sparseDim, places.length]),
    viewOf(taken, shape, contiguousStrides(shape)),
    self.shape,
    true,
  )
}

/** The p-norm of all values; dimensions may be named where it is all of them. */
function sparseNorm(self: Tensor, p: number): Tensor {
  return at.norm_Scalar(sparse(coalesce(self)).values, new Float(p))
}

export function native_norm(self: Tensor, p: Scalar): Tensor {
  return sparseNorm(self, scalarToNumber(p))
}

export const native_norm_ScalarOpt_dim_dtype: Composite['native_norm_ScalarOpt_dim_dtype'] = (self, p, dim, keepdim, dtype) => {
  const all = new Set(dim.map((d) => wrapDim(d, self.dim))).size === self.dim
  check((all || dim.length === 0) && !keepdim && dtype === null, () => 'native_norm: expected all dimensions, none kept, and no dtype')
  return sparseNorm(self, p === null ? 2 : scalarToNumber(p))
}

/** The rows of a matrix that a mask keeps, and for each row its place among them, -1 where it is gone. */
export function _rowwise_prune(weight: Tensor, mask: Tensor, indices: DType): [Tensor, Tensor] {
  if (mask.type !== DType.bool) throw new PtliteError('INVALID_DTYPE', `_rowwise_prune: expected a bool mask, found ${mask.dtype}`)
  if (indices !== DType.int32 && indices !== DType.int64) {
    throw new PtliteError('INVALID_DTYPE', `_rowwise_prune: expected int32 or int64 indices, found ${dtypeName(indices)}`)
  }
  check(
    weight.dim === 2 && mask.dim === 1 && mask.shape[0] === weight.shape[0],
    () => `_rowwise_prune: expected a matrix and a mask of its rows, found ${shapeText(weight.shape)} and ${shapeText(mask.shape)}`,
  )
  let kept = 0
  const places = readInts(mask).map((on) => (on !== 0 ? kept++ : -1))
  const rows = tensorOfInts(places.flatMap((place, row) => (place < 0 ? [] : [row])))
  return [at.index_select(weight, 0, rows), castTo(tensorOfInts(places), indices)]
}
