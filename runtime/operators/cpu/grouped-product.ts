import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { bmm_dtype } from './widened-product.js'
import { castTo, contiguousCopy } from '../support/copy.js'

const GroupedDim = kernels.GroupedDim
const GROUPED_TYPES: readonly DType[] = [DType.float32, DType.float16, DType.bfloat16]

/**
 * Products of groups (torch.nn.functional.grouped_mm). Matrices of a batch multiply the matrices of another, or the rows or columns of
 * one matrix that `offs` end; of two matrices, the columns and rows that it ends give one product each. Halves are multiplied in float32 and
 * rounded once. What is behind the last offset is zero.
 */
export function _grouped_mm(self: Tensor, mat2: Tensor, offs: Tensor | null, bias: Tensor | null, dtype: DType | null): Tensor {
  const ranks = [self.dim, mat2.dim]
  check(ranks.every((r) => r === 2 || r === 3), () => `_grouped_mm: expected 2 or 3 dimensions, found ${self.dim} and ${mat2.dim}`) // prettier-ignore
  if (!GROUPED_TYPES.includes(self.type) || mat2.type !== self.type || (dtype !== null && dtype !== self.type)) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `_grouped_mm: expected float32, float16 or bfloat16 throughout, found ${self.dtype} and ${mat2.dtype}`,
    )
  }
  check(bias === null, () => '_grouped_mm: expected no bias')
  check((offs === null) === (self.dim + mat2.dim === 6), () => '_grouped_mm: expected offsets unless both have 3 dimensions')
  if (offs === null) return castTo(bmm_dtype(self, mat2, DType.float32), self.type)
  const [k, other] = [self.shape.at(-1)!, mat2.shape.at(-2)!]
  check(other === k, () => `_grouped_mm: expected ${k} rows in mat2, found ${other}`)
  check(offs.dim === 1, () => `_grouped_mm: expected a vector of offsets, found shape [${offs.shape.join(', ')}]`)
  if (offs.type !== DType.int32) throw new PtliteError('INVALID_DTYPE', `_grouped_mm: expected int32 offsets, found ${offs.dtype}`)
  const batched = self.dim === 3 ? self : mat2.dim === 3 ? mat2 : offs
  check(offs.numel === batched.shape[0], () => `_grouped_mm: expected ${batched.shape[0]!} offsets, found ${offs.numel}`)
  return castTo(groupedProduct(castTo(self, DType.float32), castTo(mat2, DType.float32), offs), self.type)
}

/** Rows of a matrix, in groups that `offs` end, by the matrix of each group: [s, k] and [groups, k, n] give [s, n]. */
export function grouped_mm_fallback(input: Tensor, weight: Tensor, offs: Tensor): Tensor {
  check(input.dim === 2 && weight.dim === 3, () => `grouped_mm_fallback: expected 2 and 3 dimensions, found ${input.dim} and ${weight.dim}`)
  return _grouped_mm(input, weight, offs, null, null)
}

/** The float32 product; the kernel checks the offsets, which are data. */
function groupedProduct(a: Tensor, b: Tensor, offs: Tensor): Tensor {
  const [m, k, n] = [a.shape.at(-2)!, a.shape.at(-1)!, b.shape.at(-1)!]
  const split = b.dim === 3 ? GroupedDim.rows : a.dim === 3 ? GroupedDim.columns : GroupedDim.depth
  // memory bounds the number of groups
  const ends = offs.strides[0] === 0 ? contiguousCopy(offs) : offs
  const result = empty(split === GroupedDim.depth ? [offs.numel, m, n] : [m, n], DType.float32)
  kernels.grouped_gemm({
    split,
    m,
    n,
    k,
    groups: offs.numel,
    a: a.address,
    b: b.address,
    c: result.address,
    ends: ends.address,
    a_row: a.strides.at(-2)!,
    a_col: a.strides.at(-1)!,
    a_group: a.dim === 3 ? a.strides[0]! : 0,
    b_row: b.strides.at(-2)!,
    b_col: b.strides.at(-1)!,
    b_group: b.dim === 3 ? b.strides[0]! : 0,
    ends_step: ends.strides[0]!,
  })
  return result
}
