import { check } from '../../error.js'
import type { DType } from '../../tensor/dtype.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { movedim, unsqueeze } from '../../tensor/view.js'
import { castTo } from '../support/copy.js'
import * as at from '../generated/dispatch.js'

/** Singular values with the two matrix dimensions last; their results have these dimensions' places. */
function overMatrices(self: Tensor, dims: readonly number[], keepdim: boolean, reduce: (values: Tensor) => Tensor): Tensor {
  check(dims.length === 2, () => `expected 2 dimensions of matrices, found ${dims.length}`)
  const [rows, cols] = dims.map((d) => wrapDim(d, self.dim)) as [number, number]
  check(rows !== cols, () => `expected different dimensions, found ${rows} twice`)
  let result = reduce(at._linalg_svd(movedim(self, [rows, cols], [-2, -1]), false, false, null)[1])
  if (keepdim) for (const d of [rows, cols].sort((a, b) => a - b)) result = unsqueeze(result, d)
  return result
}

/** Sum of the singular values. */
export function nuclear_norm_dim(self: Tensor, dim: number[], keepdim: boolean): Tensor {
  return overMatrices(self, dim, keepdim, (s) => at.sum_dim_IntList(s, [-1], false, null))
}

export function nuclear_norm(self: Tensor, keepdim: boolean): Tensor {
  return nuclear_norm_dim(self, [-2, -1], keepdim)
}

/** The largest (order 2) or smallest (order -2) singular value. */
function spectralNorm(self: Tensor, order: number, dim: readonly number[], keepdim: boolean): Tensor {
  return overMatrices(self, dim, keepdim, (s) => (order > 0 ? at.amax(s, [-1], false) : at.amin(s, [-1], false)))
}

function matrixDims(self: Tensor, dim: readonly number[]): [number, number] {
  check(dim.length === 2, () => `linalg_matrix_norm: expected 2 dimensions, found ${dim.length}`)
  const rows = wrapDim(dim[0]!, self.dim)
  const cols = wrapDim(dim[1]!, self.dim)
  check(rows !== cols, () => `linalg_matrix_norm: expected different dimensions, found ${dim.join(' and ')}`)
  return [rows, cols]
}

/** Orders 2 and -2: the largest and smallest singular value. 1, -1, inf, -inf: the largest and smallest sum of a row or column. */
export function linalg_matrix_norm(self: Tensor, ord: Scalar, dim: number[], keepdim: boolean, dtype: DType | null): Tensor {
  const order = scalarToNumber(ord)
  const [rows, cols] = matrixDims(self, dim)
  // the largest of nothing is the norm of nothing
  const isEmpty = self.shape[rows] === 0 || self.shape[cols] === 0
  if (isEmpty && [1, 2, Infinity].includes(order)) return at.linalg_vector_norm(self, 2, [rows, cols], keepdim, dtype)
  if (Math.abs(order) === 2) return spectralNorm(inType(self, dtype), order, [rows, cols], keepdim)
  check(
    Math.abs(order) === 1 || Math.abs(order) === Infinity,
    () => `linalg_matrix_norm: expected order 1, 2, inf or their negatives, found ${order}`,
  )
  const along = Math.abs(order) === 1 ? rows : cols
  const across = along === rows ? cols : rows
  const sums = at.linalg_vector_norm(self, 1, [along], keepdim, dtype)
  const left = keepdim || across < along ? across : across - 1
  return order > 0 ? at.amax(sums, [left], keepdim) : at.amin(sums, [left], keepdim)
}

function inType(self: Tensor, dtype: DType | null): Tensor {
  return dtype === null ? self : castTo(self, dtype)
}

/** The Frobenius norm or the nuclear norm. */
export function linalg_matrix_norm_str_ord(self: Tensor, ord: string, dim: number[], keepdim: boolean, dtype: DType | null): Tensor {
  check(ord === 'fro' || ord === 'nuc', () => `linalg_matrix_norm: expected 'fro' or 'nuc', found '${ord}'`)
  if (ord === 'nuc') return nuclear_norm_dim(inType(self, dtype), matrixDims(self, dim), keepdim)
  return at.linalg_vector_norm(self, 2, matrixDims(self, dim), keepdim, dtype)
}

/** torch.linalg.norm: a matrix norm for an order and two dimensions, else a vector norm. */
export function linalg_norm(self: Tensor, ord: Scalar | null, dim: number[] | null, keepdim: boolean, dtype: DType | null): Tensor {
  const matrix = ord !== null && (dim === null ? self.dim === 2 : dim.length === 2)
  if (matrix) return linalg_matrix_norm(self, ord, dim ?? [0, 1], keepdim, dtype)
  check(
    ord === null || dim !== null || self.dim <= 2,
    () => `linalg_norm: expected dimensions for an order and a tensor of ${self.dim} dimensions`,
  )
  return at.linalg_vector_norm(self, ord ?? 2, dim, keepdim, dtype)
}

export function linalg_norm_ord_str(self: Tensor, ord: string, dim: number[] | null, keepdim: boolean, dtype: DType | null): Tensor {
  return linalg_matrix_norm_str_ord(self, ord, dim ?? [-2, -1], keepdim, dtype)
}
