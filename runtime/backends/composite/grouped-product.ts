import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import type { Tensor } from '../../tensor/tensor.js'
import { narrowed, select } from '../../tensor/view.js'
import { castTo, copyInto } from '../cpu/support/copy.js'
import { zerosOf } from '../cpu/support/make.js'
import * as at from '../generated/dispatch.js'

/** The parts of a dimension of `size` elements that end at `offsets`, as [start, length] each. */
function partsOf(offsets: Tensor, size: number): [number, number][] {
  check(offsets.dim === 1, () => `_grouped_mm: expected a vector of offsets, found shape [${offsets.shape.join(', ')}]`)
  if (offsets.type !== DType.int32) throw new PtliteError('INVALID_DTYPE', `_grouped_mm: expected int32 offsets, found ${offsets.dtype}`)
  let start = 0
  return readInts(offsets).map((end) => {
    check(end >= start && end <= size, () => `_grouped_mm: expected offsets that ascend to at most ${size}, found ${end} after ${start}`)
    const part: [number, number] = [start, end - start]
    start = end
    return part
  })
}

const GROUPED_TYPES: readonly DType[] = [DType.float32, DType.float16, DType.bfloat16]

/**
 * Products of groups. Matrices of a batch multiply the matrices of another, or the rows or columns of one matrix that `offs` end; of
 * two matrices, the columns and rows that it ends give one product each. Halves are multiplied in float32 and rounded once. What is behind
 * the last offset is zero.
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
  if (offs === null) return castTo(at.bmm_dtype(self, mat2, DType.float32), self.type)
  const [m, k, n] = [self.shape.at(-2)!, self.shape.at(-1)!, mat2.shape.at(-1)!]
  check(mat2.shape.at(-2) === k, () => `_grouped_mm: expected ${k} rows in mat2, found ${mat2.shape.at(-2)}`)
  const rows = mat2.dim === 3
  const columns = self.dim === 3
  const parts = partsOf(offs, rows ? m : columns ? n : k)
  const groups = rows ? mat2.shape[0] : columns ? self.shape[0] : parts.length
  check(parts.length === groups, () => `_grouped_mm: expected ${groups} offsets, found ${parts.length}`)
  const result = zerosOf(rows || columns ? [m, n] : [parts.length, m, n], self.type)
  parts.forEach(([start, length], g) => {
    const a = rows ? narrowed(self, 0, start, length) : columns ? select(self, 0, g) : narrowed(self, 1, start, length)
    const b = rows ? select(mat2, 0, g) : narrowed(mat2, columns ? 1 : 0, start, length)
    const part = rows ? narrowed(result, 0, start, length) : columns ? narrowed(result, 1, start, length) : select(result, 0, g)
    copyInto(part, at.mm_dtype(a, b, DType.float32))
  })
  return result
}
