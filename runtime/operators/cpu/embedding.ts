import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkIndexType, indexSelect } from './support/index-walk.js'
import { roundedRows, roundedWeight } from '../support/rounded-weight.js'
import { flattened, reshaped } from '../support/make.js'

export const INDEX_TYPES = [DType.int32, DType.int64]

/** torch.embedding: the rows of `weight` that `indices` names, in the shape of the indices plus the row. */
export function embedding(weight: Tensor, indices: Tensor, _paddingIdx: number, _scaleGradByFreq: boolean, _sparse: boolean): Tensor {
  check(weight.dim === 2, () => `embedding: expected a matrix of weights, found ${weight.dim} dimensions`)
  checkIndexType(indices, 'embedding', INDEX_TYPES)
  const rounded = roundedWeight(weight)
  const list = flattened(indices)
  const rows = rounded === null ? indexSelect(weight, 0, list) : roundedRows(rounded, list)
  const shape = [...indices.shape, weight.shape[1]!]
  return indices.dim === 1 ? rows : reshaped(rows, shape)
}
