import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { noteRead, noteWrite } from '../../tensor/observe.js'
import { checkOverlap } from '../../tensor/out.js'
import { broadcastShapes, wrapDim } from '../../tensor/shape.js'
import { empty, emptyStrided, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf, copyInto } from '../support/copy.js'
import { checkOutType, writeOut, writeOutExact } from '../support/write-out.js'
import { checkIndexType, getIndexed, indexSelect } from './support/index-walk.js'
import { expandTo, filled } from '../support/make.js'
import { complexTruth } from './complex-arithmetic.js'
import { takeAlong } from './indexing.js'

const EITHER = [DType.int32, DType.int64]

/** torch.index_select: slices along `dim` in the order of a one-dimensional index. */
export function index_select(self: Tensor, dim: number, index: Tensor, out?: Tensor): Tensor {
  checkIndexType(index, 'index_select', EITHER)
  check(index.dim <= 1, () => `index_select: expected an index of one dimension, found ${index.dim}`)
  const along = wrapDim(dim, self.dim)
  return writeOutExact(indexSelect(self, along, index), out, 'index_select')
}

/** torch.take: elements of the flattened tensor. */
export function take(self: Tensor, index: Tensor, out?: Tensor): Tensor {
  checkIndexType(index, 'take')
  check(self.numel > 0 || index.numel === 0, () => 'take: the tensor has no elements')
  const flat = contiguousOf(self)
  const result = empty([...index.shape], self.type, self.quant)
  const operand = { index, strides: index.strides, limit: flat.numel, step: 1 }
  getIndexed(result, flat, { shape: index.shape, indexed: index.shape.map(() => 0), plain: result.strides, indices: [operand] }, true)
  return writeOutExact(result, out, 'take')
}

/** torch.nonzero: one row of coordinates for each element that is not zero. Those of a dimension lie together. */
export function nonzero(given: Tensor, out?: Tensor): Tensor {
  const self = complexTruth(given)
  if (out !== undefined) checkOutType(out, DType.int64, 'nonzero')
  const data = contiguousOf(self)
  const frame = { dtype: self.type, ndim: self.dim, sizes: self.shape, count: data.numel, in: data.address }
  noteRead(self)
  const found = kernels.nonzero({ ...frame, rows: 0, out: 0 })
  const result = emptyStrided([found, self.dim], [1, self.dim === 0 ? 1 : found], DType.int64)
  if (result.numel > 0) kernels.nonzero({ ...frame, rows: found, out: result.address })
  return writeOut(result, out)
}

/** torch.nonzero_static: the first `size` rows of nonzero, rows of `fill` where there are fewer. */
export function nonzero_static(self: Tensor, size: number, fill: number, out?: Tensor): Tensor {
  check(size >= 0, () => `nonzero_static: expected a size of at least 0, found ${size}`)
  if (out !== undefined) checkOutType(out, DType.int64, 'nonzero_static')
  const rows = nonzero(self)
  const found = Math.min(rows.shape[0]!, size)
  const result = filled([size, self.dim], DType.int64, fill)
  const kept = [found, self.dim]
  copyInto(viewOf(result, kept, result.strides), viewOf(rows, kept, rows.strides))
  return writeOut(result, out)
}

function checkMask(mask: Tensor, operator: string): void {
  if (mask.type === DType.bool || mask.type === DType.uint8) return
  throw new PtliteError('INVALID_DTYPE', `${operator}: expected a mask of dtype bool, found ${mask.dtype}`)
}

/** torch.masked_select: the elements where the mask holds, both broadcast, in row-major order. */
export function masked_select(self: Tensor, mask: Tensor, out?: Tensor): Tensor {
  checkMask(mask, 'masked_select')
  const shape = broadcastShapes(self.shape, mask.shape)
  const data = contiguousOf(expandTo(self, shape))
  const where = contiguousOf(expandTo(mask, shape))
  const frame = { item_size: self.itemSize, count: data.numel, in: data.address, mask: where.address }
  noteRead(mask)
  const found = kernels.masked_pack({ ...frame, out: 0 })
  const result = empty([found], self.type, self.quant)
  if (found > 0) kernels.masked_pack({ ...frame, out: result.address })
  return writeOutExact(result, out, 'masked_select')
}

/** self[mask] = the elements of `source` one after the other, in place; the mask is broadcast. */
export function masked_scatter_(self: Tensor, mask: Tensor, source: Tensor): Tensor {
  checkMask(mask, 'masked_scatter')
  if (source.type !== self.type) {
    throw new PtliteError('INVALID_DTYPE', `masked_scatter: expected a source of dtype ${self.dtype}, found ${source.dtype}`)
  }
  checkOverlap(self, [])
  const where = contiguousOf(expandTo(mask, self.shape))
  const from = contiguousOf(source)
  noteRead(mask)
  const found = kernels.masked_pack({ item_size: 1, count: self.numel, in: 0, mask: where.address, out: 0 })
  check(found <= from.numel, () => `masked_scatter: expected at least ${found} source elements, found ${from.numel}`)
  const into = contiguousOf(self)
  kernels.masked_unpack({
    item_size: self.itemSize,
    count: self.numel,
    src_count: from.numel,
    self: into.address,
    mask: where.address,
    src: from.address,
  })
  if (into !== self) copyInto(self, into)
  noteWrite(self)
  return self
}

/** torch.take_along_dim: gather after broadcasting both in all dims but `dim`; of the flattened tensors where it is null. */
export function take_along_dim(self: Tensor, indices: Tensor, dim: number | null, out?: Tensor): Tensor {
  checkIndexType(indices, 'take_along_dim')
  if (dim === null) {
    const flat = contiguousOf(self)
    const index = contiguousOf(indices)
    return writeOutExact(takeAlong(viewOf(flat, [flat.numel], [1]), 0, viewOf(index, [index.numel], [1]), false), out, 'take_along_dim')
  }
  check(self.dim === indices.dim, () => `take_along_dim: expected indices of ${self.dim} dimensions, found ${indices.dim}`)
  const along = wrapDim(dim, self.dim)
  const one = (t: Tensor): number[] => t.shape.map((n, d) => (d === along ? 1 : n))
  const common = broadcastShapes(one(self), one(indices))
  const as = (t: Tensor): Tensor => expandTo(t, common.map((n, d) => (d === along ? t.shape[d]! : n))) // prettier-ignore
  return writeOutExact(takeAlong(as(self), along, as(indices), true), out, 'take_along_dim')
}
