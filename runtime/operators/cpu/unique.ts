import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { movedim } from '../../tensor/view.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { indexSelect } from './support/index-walk.js'
import { flattened, reshaped } from '../support/make.js'
import type { CPU } from '../support/generated/interfaces.js'

interface Found {
  /** Position (int64) of one row of each kind. */
  readonly representatives: Tensor
  readonly inverse: Tensor
  readonly counts: Tensor
}

/** Distinct rows of a contiguous matrix of `rows` rows. */
function distinctRows(data: Tensor, rows: number, columns: number, consecutive: boolean): Found {
  const representatives = empty([rows], DType.int64)
  const inverse = empty([rows], DType.int64)
  const counts = empty([rows], DType.int64)
  noteRead(data)
  const found = kernels.unique({
    dtype: data.type,
    consecutive: consecutive ? 1 : 0,
    rows,
    columns,
    in: data.address,
    representatives: representatives.address,
    inverse: inverse.address,
    counts: counts.address,
  })
  return { representatives: viewOf(representatives, [found], [1]), inverse, counts: viewOf(counts, [found], [1]) }
}

function none(): Tensor {
  return empty([0], DType.int64)
}

function ofElements(self: Tensor, consecutive: boolean, wantInverse: boolean, wantCounts: boolean): [Tensor, Tensor, Tensor] {
  const flat = flattened(self)
  const found = distinctRows(flat, flat.numel, 1, consecutive)
  const inverse = wantInverse ? reshaped(found.inverse, self.shape) : none()
  return [indexSelect(flat, 0, found.representatives), inverse, wantCounts ? found.counts : none()]
}

/** Slices along `dim` are the rows. */
function ofSlices(self: Tensor, dim: number, consecutive: boolean, wantInverse: boolean, wantCounts: boolean): [Tensor, Tensor, Tensor] {
  check(self.dim > 0, () => 'unique: a tensor without dimensions has no slices')
  const along = wrapDim(dim, self.dim)
  const rows = self.shape[along] ?? 1
  const empties = self.shape.filter((n) => n === 0).length
  check(
    empties === 0 || (rows === 0 && empties === 1),
    () => `unique: slices along dim ${along} of shape [${self.shape.join(', ')}] have no elements`,
  )
  // PyTorch swaps the dim with the first one, which decides how slices of three or more dims compare
  const order = self.shape.map((_, d) => (d === 0 ? along : d === along ? 0 : d))
  const front = viewOf(self, order.map((d) => self.shape[d]!), order.map((d) => self.strides[d]!)) // prettier-ignore
  const data = contiguousOf(front)
  const found = distinctRows(data, rows, rows === 0 ? 0 : data.numel / rows, consecutive)
  // the slices lie one behind the other
  const values = movedim(indexSelect(movedim(self, [along], [0]), 0, found.representatives), [0], [along])
  return [values, wantInverse ? found.inverse : none(), wantCounts ? found.counts : none()]
}

/** The distinct elements in ascending order, where each element went, and how many there are of each. */
export function _unique2(self: Tensor, _sorted: boolean, returnInverse: boolean, returnCounts: boolean): [Tensor, Tensor, Tensor] {
  return ofElements(self, false, returnInverse || returnCounts, returnCounts)
}

export function _unique(self: Tensor, _sorted: boolean, returnInverse: boolean): [Tensor, Tensor] {
  const [values, inverse] = ofElements(self, false, returnInverse, false)
  return [values, inverse]
}

/** One element of each run of equal ones; slices along `dim` where it is given. */
export const unique_consecutive: CPU['unique_consecutive'] = (self, returnInverse, returnCounts, dim) => {
  if (dim === null || (dim === 0 && self.dim === 1)) return ofElements(self, true, returnInverse, returnCounts)
  return ofSlices(self, dim, true, true, true)
}

/** Distinct slices along `dim`, in lexicographic order. */
export const unique_dim: CPU['unique_dim'] = (self, dim) => ofSlices(self, dim, false, true, true)

export const unique_dim_consecutive: CPU['unique_dim_consecutive'] = (self, dim) => ofSlices(self, dim, true, true, true)
