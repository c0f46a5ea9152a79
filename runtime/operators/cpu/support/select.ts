import * as kernels from '../../../native/generated/kernels.js'
import { DType } from '../../../tensor/dtype.js'
import { preservedStrides } from '../../../tensor/iterator.js'
import { contiguousStrides } from '../../../tensor/shape.js'
import { empty, emptyStrided, type Tensor } from '../../../tensor/tensor.js'
import { without } from '../../../shapes/dims.js'
import { lineFields, linesAlong } from '../../support/reduce.js'

/** The whole line along `dim` in order; `withValues` also gathers the elements. */
export function sortLines(
  self: Tensor,
  dim: number,
  { descending = false, withValues = false, stable = false }: { descending?: boolean; withValues?: boolean; stable?: boolean },
): { values: Tensor | null; indices: Tensor } {
  const strides = preservedStrides(self)
  const indices = emptyStrided(self.shape, strides, DType.int64)
  const values = withValues ? emptyStrided(self.shape, strides, self.type) : null
  if (indices.numel === 0) return { values, indices }
  const lines = linesAlong(dim, self, indices)
  kernels.sort({
    dtype: self.type,
    stable: stable ? 1 : 0,
    descending: descending ? 1 : 0,
    ...lineFields(lines),
    in: self.address,
    values_out: values === null ? 0 : values.address,
    indices_out: indices.address,
  })
  return { values, indices }
}

/** `results` elements of each line along `dim` with their positions; the dim goes away unless `keepdim`. */
export function selectLines(
  op: keyof typeof kernels.SelectOp,
  self: Tensor,
  dim: number,
  { k = 1, results = 1, keepdim = false, sorted = true }: { k?: number; results?: number; keepdim?: boolean; sorted?: boolean },
): [Tensor, Tensor] {
  const kept = self.shape.map((n, d) => (d === dim ? results : n))
  const shape = keepdim ? kept : without(kept, dim)
  const values = empty(shape, self.type)
  const indices = empty(shape, DType.int64)
  if (values.numel === 0) return [values, indices]
  const strides = contiguousStrides(kept)
  const lines = linesAlong(dim, self, { shape: kept, strides })
  kernels.select({
    op: kernels.SelectOp[op],
    dtype: self.type,
    sorted: sorted ? 1 : 0,
    ...lineFields(lines),
    k,
    in: self.address,
    values_out: values.address,
    indices_out: indices.address,
  })
  return [values, indices]
}
