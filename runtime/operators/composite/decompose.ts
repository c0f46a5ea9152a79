import { check, PtliteError } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { DType, isComplex, realOf } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { Float, float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { diagonal, movedim, narrow, select, transpose, unsqueeze } from '../../tensor/view.js'
import { columnStrides } from '../support/columns.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { writeOut, writeOuts, writeOutsExact, type Outs } from '../support/write-out.js'
import { filled, zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { conj, real } from './complex-views.js'
import { linalg_matrix_norm, linalg_matrix_norm_str_ord } from './matrix-norm.js'
import { reshape } from './views.js'

/** What decompositions in ../cpu/decompose.ts are used for: least squares, inverses, ranks, norms, exponentials. */

const epsilonOf = (type: DType): number => (realOf(type) === DType.float32 ? 2 ** -23 : realOf(type) === DType.float64 ? 2 ** -52 : 0)

/** Matrices transposed, with the conjugates of complex elements. */
const mH = (t: Tensor): Tensor => conj(transpose(t, -2, -1))

export function qr(self: Tensor, some: boolean, ...outs: Outs): [Tensor, Tensor] {
  return writeOutsExact(at.linalg_qr(self, some ? 'reduced' : 'complete'), outs, 'qr')
}

export function linalg_eigh(self: Tensor, uplo: string, ...outs: Outs): [Tensor, Tensor] {
  return writeOutsExact(at._linalg_eigh(self, uplo, true), outs, 'linalg_eigh')
}

export function linalg_eigvalsh(self: Tensor, uplo: string): Tensor {
  return at._linalg_eigh(self, uplo, false)[0]
}

export function symeig(self: Tensor, vectors: boolean, upper: boolean, ...outs: Outs): [Tensor, Tensor] {
  return writeOuts(at._linalg_eigh(self, upper ? 'U' : 'L', vectors), outs)
}

export function linalg_svd(a: Tensor, full: boolean, driver: string | null, ...outs: Outs): [Tensor, Tensor, Tensor] {
  return writeOutsExact(at._linalg_svd(a, full, true, driver), outs, 'linalg_svd')
}

export function linalg_svdvals(a: Tensor, driver: string | null): Tensor {
  return at._linalg_svd(a, false, false, driver)[1]
}

/** The older form, with V instead of its transpose; zeros for both where they are not asked for. */
export function svd(self: Tensor, some: boolean, vectors: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  const [u, s, v] = at._linalg_svd(self, !some, vectors, null)
  const given = (left: Tensor, right: Tensor): [Tensor, Tensor, Tensor] => writeOutsExact([left, s, right], outs, 'svd')
  if (vectors) return given(u, mH(v))
  const [rows, cols] = self.shape.slice(-2) as [number, number]
  const square = (n: number): Tensor => zerosOf([...self.shape.slice(0, -2), n, n], self.type)
  return given(square(rows), mH(square(cols)))
}

type Tolerance = Tensor | number | null

/** max(atol, rtol * largest) with PyTorch's defaults: rtol is epsilon * max(rows, cols) unless atol is given. */
function cutoff(self: Tensor, largest: Tensor, atol: Tolerance, rtol: Tolerance): Tensor {
  const relative =
    rtol ?? (atol === null || (typeof atol === 'number' && atol <= 0) ? epsilonOf(self.type) * Math.max(...self.shape.slice(-2)) : 0)
  const scaled = typeof relative === 'number' ? at.mul_Scalar(largest, float(relative)) : at.mul_Tensor(largest, relative)
  if (atol === null) return scaled
  return typeof atol === 'number' ? at.clamp_min(scaled, float(atol)) : at.maximum(scaled, castTo(atol, scaled.type))
}

/** The spectrum's sizes: absolute eigenvalues of Hermitian matrices, else singular values. */
function magnitudes(self: Tensor, hermitian: boolean): Tensor {
  return hermitian ? at.abs(linalg_eigvalsh(self, 'L')) : linalg_svdvals(self, null)
}

function largestOf(values: Tensor): Tensor {
  return unsqueeze(at.amax(values, [-1], false), -1)
}

function pseudoInverse(self: Tensor, atol: Tolerance, rtol: Tolerance, hermitian: boolean): Tensor {
  check(self.dim >= 2, () => `linalg_pinv: expected matrices, found shape [${self.shape.join(', ')}]`)
  const [rows, cols] = self.shape.slice(-2) as [number, number]
  if (self.numel === 0) return zerosOf([...self.shape.slice(0, -2), cols, rows], self.type)
  const [u, s, vh] = hermitian ? hermitianSvd(self) : at._linalg_svd(self, false, true, null)
  const sizes = at.abs(s)
  const kept = at.gt_Tensor(sizes, cutoff(self, largestOf(sizes), per(atol), per(rtol)))
  const inverse = at.where_self(kept, at.reciprocal(s), zerosOf([], s.type))
  return at.matmul(at.mul_Tensor(mH(vh), unsqueeze(inverse, -2)), mH(u))
}

/** A = U H with orthonormal columns of U and a positive semidefinite H. */
export function linalg_polar(a: Tensor, ...outs: Outs): [Tensor, Tensor] {
  check(
    a.dim >= 2 && a.shape[a.dim - 2]! >= a.shape[a.dim - 1]!,
    () => `linalg_polar: expected matrices with no more columns than rows, found shape [${a.shape.join(', ')}]`,
  )
  const [u, s, vh] = at._linalg_svd(a, false, true, null)
  const half = at.mul_Tensor(mH(vh), unsqueeze(at.sqrt(s), -2))
  return writeOutsExact([at.matmul(u, vh), at.matmul(half, mH(half))], outs, 'linalg_polar')
}

/** The positive semidefinite square root of Hermitian matrices, of which the lower triangle is read; eigenvalues below 0 count as 0. */
export function linalg_matrix_sqrth(self: Tensor): Tensor {
  const [values, vectors] = at._linalg_eigh(self, 'L', true)
  const roots = at.sqrt(at.clamp_min(values, 0))
  return at.matmul(at.mul_Tensor(vectors, unsqueeze(roots, -2)), mH(vectors))
}

/** A tolerance per matrix, as a column. */
function per(tolerance: Tolerance): Tolerance {
  return tolerance === null || typeof tolerance === 'number' ? tolerance : unsqueeze(tolerance, -1)
}

function hermitianSvd(self: Tensor): [Tensor, Tensor, Tensor] {
  const [values, vectors] = at._linalg_eigh(self, 'L', true)
  return [vectors, values, mH(vectors)]
}

export function linalg_pinv(self: Tensor, rcond: number, hermitian: boolean): Tensor {
  return pseudoInverse(self, 0, rcond, hermitian)
}

export function linalg_pinv_rcond_tensor(self: Tensor, rcond: Tensor, hermitian: boolean, out?: Tensor): Tensor {
  return writeOut(pseudoInverse(self, 0, rcond, hermitian), out)
}

export { pseudoInverse as linalg_pinv_atol_rtol_float, pseudoInverse as linalg_pinv_atol_rtol_tensor }

export function pinverse(self: Tensor, rcond: number): Tensor {
  return linalg_pinv(self, rcond, false)
}

function rank(self: Tensor, atol: Tolerance, rtol: Tolerance, hermitian: boolean): Tensor {
  check(self.dim >= 2, () => `linalg_matrix_rank: expected matrices, found shape [${self.shape.join(', ')}]`)
  if (self.numel === 0) return zerosOf(self.shape.slice(0, -2), DType.int64)
  const sizes = magnitudes(self, hermitian)
  return at.sum_dim_IntList(at.gt_Tensor(sizes, cutoff(self, largestOf(sizes), per(atol), per(rtol))), [-1], false, null)
}

export function linalg_matrix_rank(self: Tensor, tol: number, hermitian: boolean): Tensor {
  return rank(self, tol, 0, hermitian)
}

export function linalg_matrix_rank_tol_tensor(self: Tensor, tol: Tensor, hermitian: boolean, out?: Tensor): Tensor {
  return writeOut(rank(self, tol, 0, hermitian), out)
}

export { rank as linalg_matrix_rank_atol_rtol_float, rank as linalg_matrix_rank_atol_rtol_tensor }

function matrixNorm(self: Tensor, order: number | string): Tensor {
  if (typeof order === 'string') return linalg_matrix_norm_str_ord(self, order, [-2, -1], false, null)
  return linalg_matrix_norm(self, float(order), [-2, -1], false, null)
}

/** How much a matrix amplifies errors: the product of its norm and that of its inverse. */
export function linalg_cond(self: Tensor, p: Scalar | null): Tensor {
  const order = p === null ? 2 : scalarToNumber(p)
  if (Math.abs(order) === 2) {
    const s = linalg_svdvals(self, null)
    const [largest, smallest] = [select(s, -1, 0), select(s, -1, -1)]
    return order > 0 ? at.div_Tensor(largest, smallest) : at.div_Tensor(smallest, largest)
  }
  return at.mul_Tensor(matrixNorm(self, order), matrixNorm(at.linalg_inv(self), order))
}

export function linalg_cond_p_str(self: Tensor, p: string): Tensor {
  return at.mul_Tensor(matrixNorm(self, p), matrixNorm(at.linalg_inv(self), p))
}

/** Solutions of least squares; residuals where the system is overdetermined and of full rank, gelsy (the default) aside. */
export const linalg_lstsq: Composite['linalg_lstsq'] = (self, b, rcond, driver, ...outs) => {
  const used = driver ?? 'gelsy'
  check(
    ['gels', 'gelsy', 'gelsd', 'gelss'].includes(used),
    () => `linalg_lstsq: expected driver gels, gelsy, gelsd or gelss, found '${used}'`,
  )
  const vector = b.dim === 1 || (b.dim === self.dim - 1 && b.shape.join() === self.shape.slice(0, -1).join())
  const right = vector ? unsqueeze(b, -1) : b
  const [rows, cols] = self.shape.slice(-2) as [number, number]
  check(
    right.dim >= 2 && right.shape[right.dim - 2] === rows,
    () => `linalg_lstsq: shapes [${self.shape.join(', ')}] and [${b.shape.join(', ')}] do not fit together`,
  )
  const tolerance = rcond ?? epsilonOf(self.type) * Math.max(rows, cols)
  // LAPACK solves in place, column by column, in a matrix of as many rows as the longer side of `self`
  const solved = at.matmul(linalg_pinv(self, tolerance, false), right)
  const height = Math.max(rows, cols)
  const whole = [...solved.shape.slice(0, -2), height, solved.shape.at(-1)!]
  const solution = narrow(emptyStrided(whole, columnStrides(whole), solved.type), -2, 0, cols)
  copyInto(solution, solved)
  const none = (type: DType): Tensor => empty([0], type)
  const sizes = linalg_svdvals(self, null)
  const ranks = at.sum_dim_IntList(at.gt_Tensor(sizes, cutoff(self, largestOf(sizes), 0, tolerance)), [-1], false, null)
  const full = used !== 'gelsy' && rows > cols && readInts(ranks).every((r) => r === cols)
  const difference = at.sub_Tensor(at.matmul(self, solution), right, 1)
  const residuals = full ? real(at.sum_dim_IntList(at.mul_Tensor(difference, difference), [-2], false, null)) : none(realOf(self.type))
  const results: [Tensor, Tensor, Tensor, Tensor] = [
    vector ? select(solution, -1, 0) : solution,
    residuals,
    used === 'gels' ? none(DType.int64) : ranks,
    used === 'gelsd' || used === 'gelss' ? sizes : none(realOf(self.type)),
  ]
  return writeOuts(results, outs)
}

/** e^A by scaling, a Taylor polynomial of degree 18 in float64, and squaring. */
export function linalg_matrix_exp(self: Tensor): Tensor {
  const n = self.shape[self.dim - 1]
  check(
    self.dim >= 2 && self.shape[self.dim - 2] === n,
    () => `matrix_exp: expected square matrices, found shape [${self.shape.join(', ')}]`,
  )
  if (epsilonOf(self.type) === 0) {
    throw new PtliteError('INVALID_DTYPE', `matrix_exp: expected matrices of single or double precision, found ${self.dtype}`)
  }
  if (self.numel === 0) return contiguousOf(self)
  const working = isComplex(self.type) ? DType.complex128 : DType.float64
  const a = castTo(self, working)
  const norm = Number(readTensor(at.max(at.sum_dim_IntList(at.abs(a), [-1], false, null)))[0])
  const squarings = norm > 0.5 && Number.isFinite(norm) ? Math.min(Math.ceil(Math.log2(norm / 0.5)), 1100) : 0
  const scaled = at.mul_Scalar(a, new Float(2 ** -squarings))
  const one = at.mul_Scalar(scaled, 0)
  copyInto(diagonal(one, 0, -2, -1), filled([], working, 1))
  let result = one
  for (let k = 18; k >= 1; k--) result = at.add_Tensor(one, at.mul_Scalar(at.matmul(scaled, result), new Float(1 / k)), 1)
  for (let i = 0; i < squarings; i++) result = at.matmul(result, result)
  return castTo(result, self.type)
}

export { linalg_matrix_exp as matrix_exp }

/** The inverse of the matrix that `self` is when its first `ind` dimensions, and the others, are taken as one. */
export function linalg_tensorinv(self: Tensor, ind: number): Tensor {
  check(ind > 0, () => `linalg_tensorinv: expected ind above 0, found ${ind}`)
  const [first, second] = [self.shape.slice(0, ind), self.shape.slice(ind)]
  const n = numelOf(first)
  check(n === numelOf(second), () => `linalg_tensorinv: expected as many elements on both sides, found [${self.shape.join(', ')}]`)
  return reshape(at.linalg_inv(reshape(self, [n, n])), [...second, ...first])
}

/** x with tensordot(self, x) = other. */
export function linalg_tensorsolve(self: Tensor, other: Tensor, dims: number[] | null): Tensor {
  const moved = dims === null ? self : movedim(self, dims, dims.map((_, i) => self.dim - dims.length + i)) // prettier-ignore
  const n = other.numel
  const shape = moved.shape.slice(other.dim)
  check(
    numelOf(shape) === n,
    () => `linalg_tensorsolve: shapes [${self.shape.join(', ')}] and [${other.shape.join(', ')}] do not fit together`,
  )
  return reshape(at.linalg_solve(reshape(moved, [n, n]), reshape(other, [n]), true), shape)
}
