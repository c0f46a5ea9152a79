import { check, PtliteError } from '../../error.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { readInts, tensorOfInts } from '../../tensor/host-values.js'
import { Layout, type TensorOptions } from '../../tensor/options.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { contiguousStrides, numelOf, shapeText, wrapDim } from '../../tensor/shape.js'
import { SparseTensor } from '../../tensor/sparse.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { reducedDims } from '../../shapes/dims.js'
import { select, transpose } from '../../tensor/view.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'

/** Sparse tensors: made, put in order and made dense. Of other operators products of matrices take them (../cpu/sparse-matmul.ts). */

function anySparse(self: Tensor): SparseTensor {
  if (!(self instanceof SparseTensor)) throw new PtliteError('INVALID_ARGUMENT', `expected a sparse tensor, found a dense one`)
  return self
}

/** In coordinate form. */
function sparse(self: Tensor): SparseTensor {
  const source = anySparse(self)
  check(source.layout === Layout.sparse, () => 'expected a sparse tensor in coordinate form, found one of a compressed layout')
  return source
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
  const source = anySparse(self)
  return shared((source.layout === Layout.sparse ? ordered(source) : source).values)
}

export function crow_indices(self: Tensor): Tensor {
  return shared(anySparse(self).compressedIndices(Layout.sparseCsr).starts)
}

export function col_indices(self: Tensor): Tensor {
  return shared(anySparse(self).compressedIndices(Layout.sparseCsr).plain)
}

export function ccol_indices(self: Tensor): Tensor {
  return shared(anySparse(self).compressedIndices(Layout.sparseCsc).starts)
}

export function row_indices(self: Tensor): Tensor {
  return shared(anySparse(self).compressedIndices(Layout.sparseCsc).plain)
}

export function sparse_dim(self: Tensor): number {
  return sparse(self).sparseDim
}

export function dense_dim(self: Tensor): number {
  return sparse(self).values.dim - 1
}

export { sparse_dim as _dimI, dense_dim as _dimV }

export function _nnz(self: Tensor): number {
  return anySparse(self).count
}

function compressedTensor(
  layout: number | null,
  starts: Tensor,
  plain: Tensor,
  given: Tensor,
  size: readonly number[],
  isChecked: boolean,
): Tensor {
  check(
    layout === Layout.sparseCsr || layout === Layout.sparseCsc,
    () => `expected the layout sparse_csr or sparse_csc, found number ${String(layout)}`,
  )
  const made = SparseTensor.compressed(layout, starts, plain, given, size)
  // looks at the indices
  if (isChecked) check(made.indices.dim === 2, () => 'expected indices of a matrix')
  return made
}

/** The smallest size that holds all indices. */
function compressedSize(layout: number | null, starts: Tensor, plain: Tensor): number[] {
  const [along, across] = [starts.numel - 1, readInts(plain).reduce((most, n) => Math.max(most, n + 1), 0)]
  return layout === Layout.sparseCsc ? [across, along] : [along, across]
}

const valuesIn = (values: Tensor, { dtype }: TensorOptions): Tensor => castTo(values, dtype ?? values.type)

export const sparse_compressed_tensor_comp_plain_value_size: Composite['sparse_compressed_tensor_comp_plain_value_size'] = (
  starts,
  plain,
  values,
  size,
  options,
) => compressedTensor(options.layout, starts, plain, valuesIn(values, options), size, true)

export const sparse_compressed_tensor_comp_plain_value: Composite['sparse_compressed_tensor_comp_plain_value'] = (
  starts,
  plain,
  values,
  options,
) => compressedTensor(options.layout, starts, plain, valuesIn(values, options), compressedSize(options.layout, starts, plain), true)

export const _sparse_compressed_tensor_unsafe: Composite['_sparse_compressed_tensor_unsafe'] = (starts, plain, values, size, options) =>
  compressedTensor(options.layout, starts, plain, valuesIn(values, options), size, false)

export const sparse_csr_tensor_crow_col_value_size: Composite['sparse_csr_tensor_crow_col_value_size'] = (
  crow,
  col,
  values,
  size,
  options,
) => compressedTensor(Layout.sparseCsr, crow, col, valuesIn(values, options), size, true)

export function sparse_csr_tensor_crow_col_value(crow: Tensor, col: Tensor, values: Tensor, options: TensorOptions): Tensor {
  return compressedTensor(Layout.sparseCsr, crow, col, valuesIn(values, options), compressedSize(Layout.sparseCsr, crow, col), true)
}

export const _sparse_csr_tensor_unsafe: Composite['_sparse_csr_tensor_unsafe'] = (crow, col, values, size, options) =>
  compressedTensor(Layout.sparseCsr, crow, col, valuesIn(values, options), size, false)

/** A matrix with its rows (or columns) compressed. */
function compress(self: Tensor, denseDim: number | null, layout: number): Tensor {
  check((denseDim ?? 0) === 0 && self.dim === 2, () => `expected a matrix without dense dimensions, found shape ${shapeText(self.shape)}`)
  if (self instanceof SparseTensor && self.layout === layout) return self
  const isRows = layout === Layout.sparseCsr
  const upright = isRows ? self : self instanceof SparseTensor ? self.transposed() : transpose(self, 0, 1)
  const source = sparse(coalesce(coordinates(upright)))
  const places = readInts(source.indices)
  const rows = upright.shape[0]!
  const starts = new Array<number>(rows + 1).fill(0)
  for (let i = 0; i < source.count; i++) starts[places[i]! + 1]!++
  for (let row = 0; row < rows; row++) starts[row + 1]! += starts[row]!
  return SparseTensor.compressed(layout, tensorOfInts(starts), tensorOfInts(places.slice(source.count)), source.values, self.shape)
}

/** Any tensor in coordinate form. */
function coordinates(self: Tensor): Tensor {
  if (!(self instanceof SparseTensor)) return to_sparse_sparse_dim(self, self.dim)
  return self.layout === Layout.sparse ? self : new SparseTensor(self.indices, self.values, self.shape, self.layout === Layout.sparseCsr)
}

export function to_sparse_csr(self: Tensor, denseDim: number | null): Tensor {
  return compress(self, denseDim, Layout.sparseCsr)
}

export function to_sparse_csc(self: Tensor, denseDim: number | null): Tensor {
  return compress(self, denseDim, Layout.sparseCsc)
}

export { to_sparse_csr as _to_sparse_csr, to_sparse_csc as _to_sparse_csc }

/** The sum of all values. */
export function _sparse_sum(self: Tensor): Tensor {
  return at.sum(sparse(self).values, null)
}

export function _sparse_sum_dtype(self: Tensor, dtype: DType): Tensor {
  return at.sum(sparse(self).values, dtype)
}

/** Sums over some of the dimensions; sparse where a sparse dimension stays. */
export function _sparse_sum_dim(self: Tensor, dim: number[]): Tensor {
  const source = sparse(self)
  const folded = reducedDims(dim, source.dim)
  const dense = folded.flatMap((is, d) => (is && d >= source.sparseDim ? [d - source.sparseDim + 1] : []))
  const values = dense.length === 0 ? source.values : at.sum_dim_IntList(source.values, dense, false, null)
  const left = folded.slice(0, source.sparseDim).flatMap((is, d) => (is ? [] : [d]))
  if (left.length === 0) return at.sum_dim_IntList(values, [0], false, null)
  const shape = source.shape.filter((_, d) => !folded[d])
  return coalesce(new SparseTensor(at.index_select(source.indices, 0, tensorOfInts(left)), values, shape, false))
}

/** The elements of a dense tensor where a sparse one has values. */
export function sparse_mask(self: Tensor, mask: Tensor): Tensor {
  const { indices, shape, sparseDim } = sparse(mask)
  check(self.shape.join() === shape.join(), () => `sparse_mask: expected shape ${shapeText(shape)}, found ${shapeText(self.shape)}`)
  const values = at.index_Tensor(
    self,
    Array.from({ length: sparseDim }, (_, d) => select(indices, 0, d)),
  )
  return new SparseTensor(indices, values, shape, sparse(mask).coalesced)
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
  if (layout === Layout.sparseCsr || layout === Layout.sparseCsc) return compress(self, denseDim, layout)
  check(
    (layout ?? Layout.sparse) === Layout.sparse,
    () => `to_sparse: expected the layout sparse_coo, sparse_csr or sparse_csc, found number ${layout!}`,
  )
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
  if (self instanceof SparseTensor) return coordinates(self)
  const sizes = self.shape.slice(0, sparseDim)
  const block = self.shape.slice(sparseDim)
  const rows = viewOf(contiguousOf(self), [numelOf(sizes), numelOf(block)], [Math.max(numelOf(block), 1), 1])
  const found = readInts(at.nonzero(rows))
  const places = [...new Set(found.filter((_, i) => i % 2 === 0))]
  const steps = contiguousStrides(sizes)
  const standing = sizes.flatMap((size, d) => places.map((place) => Math.floor(place / steps[d]!) % size))
  const taken = at.index_select(rows, 0, tensorOfInts(places))
  const shape = [places.length, ...block]
  return new SparseTensor(
    tensorOfInts(standing, [sparseDim, places.length]),
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
