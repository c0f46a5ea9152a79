import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { itemOf } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { castTo, contiguousCopy, contiguousOf } from '../support/copy.js'
import { checkIndexType, indexSelect } from './support/index-walk.js'
import { zerosOf } from '../support/make.js'
import type { CPU } from '../support/generated/interfaces.js'
import { _unique } from './unique.js'
import { INDEX_TYPES } from './embedding.js'

/** torch.embedding_renorm_: rows of `self` that are used and whose norm exceeds `maxNorm` are scaled down to it. */
export function embedding_renorm_(self: Tensor, indices: Tensor, maxNorm: number, normType: number): Tensor {
  check(self.dim === 2, () => `embedding_renorm_: expected a matrix, found ${self.dim} dimensions`)
  checkIndexType(indices, 'embedding_renorm_', INDEX_TYPES)
  const [used] = _unique(castTo(indices, DType.int64), true, false)
  const list = contiguousOf(used)
  indexSelect(self, 0, list)
  kernels.renorm_rows({
    dtype: self.type,
    rows: list.numel,
    width: self.shape[1]!,
    row_stride: self.strides[0]!,
    column_stride: self.strides[1]!,
    p: normType,
    max_norm: maxNorm,
    self: self.address,
    list: list.address,
  })
  noteWrite(self)
  return self
}

/** Dtypes for whose sums PyTorch has a kernel that keeps no record of the bags. */
const QUICK_TYPES: readonly DType[] = [DType.float32, DType.float16]

const MODES = ['sum', 'mean', 'max'] as const

/**
 * torch.embedding_bag: the sum, mean or maximum (`mode` 0, 1, 2) of the rows of each bag, which starts at its offset.
 * Further results: bag of each index, indices in each bag, and where each maximum came from. Sums do not fill in the second, nor,
 * for dense rows of float32 and float16 without a padding index, the first.
 */
export const embedding_bag_padding_idx: CPU['embedding_bag_padding_idx'] = (
  weight,
  indices,
  offsets,
  _scaleGradByFreq,
  mode,
  _sparse,
  perSampleWeights,
  includeLastOffset,
  paddingIdx,
) => {
  checkBags(weight, indices, offsets, mode, perSampleWeights)
  const rows = weight.shape[0]!
  check(
    paddingIdx === null || (paddingIdx >= -rows && paddingIdx < rows),
    () => `embedding_bag: padding_idx ${paddingIdx} is out of range for ${rows} rows`,
  )
  check(!includeLastOffset || offsets.numel > 0, () => 'embedding_bag: include_last_offset needs at least one offset')
  const type = indices.type === offsets.type ? indices.type : DType.int64
  const list = contiguousOf(castTo(indices, type))
  const starts = contiguousOf(castTo(offsets, type))
  const shares = perSampleWeights === null ? null : contiguousOf(perSampleWeights)
  const bags = offsets.numel - (includeLastOffset ? 1 : 0)
  const width = weight.shape[1]!
  const out = empty([bags, width], weight.type)
  const isSum = mode === 0
  const isQuickSum = isSum && paddingIdx === null && QUICK_TYPES.includes(weight.type) && weight.strides[1] === 1
  const bagOf = zerosOf([isQuickSum ? 0 : list.numel], indices.type)
  const bagSize = zerosOf([isSum ? offsets.numel : bags], indices.type)
  const best = mode === 2 ? zerosOf([bags, width], indices.type) : null
  const counts = indices.type === DType.int64
  kernels.embedding_bag({
    mode: kernels.BagMode[MODES[mode]!],
    dtype: weight.type,
    index_dtype: type,
    bags,
    count: list.numel,
    width,
    rows,
    row_stride: weight.strides[0]!,
    column_stride: weight.strides[1]!,
    padding_idx: paddingIdx === null ? -1 : paddingIdx < 0 ? paddingIdx + rows : paddingIdx,
    include_last: includeLastOffset ? 1 : 0,
    weight: weight.address,
    indices: list.address,
    offsets: starts.address,
    sample_weights: shares === null ? 0 : shares.address,
    out: out.address,
    bag_size: counts && !isSum ? bagSize.address : 0,
    bag_of: counts && !isQuickSum ? bagOf.address : 0,
    max_indices: best !== null && counts ? best.address : 0,
  })
  return [out, bagOf, bagSize, best ?? contiguousCopy(bagSize)]
}

function checkBags(weight: Tensor, indices: Tensor, offsets: Tensor, mode: number, perSampleWeights: Tensor | null): void {
  checkIndexType(indices, 'embedding_bag', INDEX_TYPES)
  checkIndexType(offsets, 'embedding_bag', INDEX_TYPES)
  check(mode >= 0 && mode <= 2, () => `embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), found ${mode}`)
  check(weight.dim === 2 && indices.dim === 1 && offsets.dim === 1, () =>
    `embedding_bag: expected a matrix and two lists, found ${weight.dim}, ${indices.dim} and ${offsets.dim} dimensions`,
  ) // prettier-ignore
  if (!isFloating(weight.type))
    throw new PtliteError('INVALID_DTYPE', `embedding_bag: expected floating point weights, found ${weight.dtype}`)
  if (offsets.numel > 0) {
    const first = Number(itemOf(viewOf(offsets, [], [])))
    check(first === 0, () => `embedding_bag: expected the first offset to be 0, found ${first}`)
  }
  if (perSampleWeights === null) return
  check(mode === 0, () => "embedding_bag: per_sample_weights need mode 'sum'")
  check(
    perSampleWeights.type === weight.type,
    () => `embedding_bag: expected per_sample_weights of dtype ${weight.dtype}, found ${perSampleWeights.dtype}`,
  )
  check(perSampleWeights.dim === 1 && perSampleWeights.numel === indices.numel, () =>
    `embedding_bag: expected ${indices.numel} per_sample_weights, found [${perSampleWeights.shape.join(', ')}]`,
  ) // prettier-ignore
}

export const embedding_bag: CPU['embedding_bag'] = (...args) => embedding_bag_padding_idx(...args, null)

/** As embedding_bag, with -1 for no padding index. */
export const _embedding_bag: CPU['_embedding_bag'] = (
  weight,
  indices,
  offsets,
  scaleGradByFreq,
  mode,
  sparse,
  perSampleWeights,
  includeLastOffset,
  paddingIdx,
) => {
  const padding = paddingIdx === -1 ? null : paddingIdx
  return embedding_bag_padding_idx(weight, indices, offsets, scaleGradByFreq, mode, sparse, perSampleWeights, includeLastOffset, padding)
}
