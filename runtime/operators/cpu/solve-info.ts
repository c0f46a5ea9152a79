import { PtliteError } from '../../error.js'
import { writeTensor } from '../../tensor/data.js'
import { DType, isComplex } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { Float } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { narrow, transpose } from '../../tensor/view.js'
import { linalg_lu_factor_ex } from './decompose.js'
import { type ComplexMatrix, readMatrices, tensorOfMatrices } from './factor/complex-matrix.js'
import { adjoint, checkSquare, identity, linalg_det, linalg_slogdet, linalg_solve } from './linalg.js'
import { byColumns } from '../support/columns.js'
import { contiguousCopy, copyInto } from '../support/copy.js'
import { writeOutsExact, type Outs } from '../support/write-out.js'
import { reshaped, scalarTensor } from '../support/make.js'
import type { CPU } from '../support/generated/interfaces.js'

/** Forms of solve, inverse, Cholesky factor and determinant that say which matrices failed, or give the LU factors too. */

/** What LAPACK's positive codes mean, by the last part of the API's name. */
const FAILURES: readonly (readonly [RegExp, (code: number) => string])[] = [
  [/ldl/, (code) => `diagonal element ${code} of D is zero: the matrix is singular`],
  [/inv|solve/, (code) => `diagonal element ${code} of the LU factor is zero: the matrix is singular`],
  [/cholesky/, (code) => `the leading minor of order ${code} is not positive definite`],
  [/eig|svd|syevd/, (code) => `the algorithm did not converge (${code})`],
  [/lstsq/, (code) => `diagonal element ${code} is zero: the matrix has not full rank`],
]

/** Throws INVALID_ARGUMENT where a code of `info` is not 0; `api` says what it came from, as 'linalg.inv'. */
export function _linalg_check_errors(info: Tensor, api: string, isMatrix: boolean): void {
  const codes = readInts(info)
  const at = codes.findIndex((code) => code !== 0)
  if (at < 0) return
  const code = codes[at]!
  const failure = FAILURES.find(([name]) => name.test(api))
  const text = code < 0 || failure === undefined ? `LAPACK's code is ${code}` : failure[1](code)
  throw new PtliteError('INVALID_ARGUMENT', `${api}: ${isMatrix ? '' : `matrix ${at} of the batch: `}${text}`)
}

/** The matrices with NaN for those that are singular: these have no zero pivot, and what is solved with them is NaN. */
function withoutSingular(a: Tensor, info: Tensor): Tensor {
  const codes = readInts(info)
  if (codes.every((code) => code === 0)) return a
  const copy = contiguousCopy(a)
  const list = reshaped(copy, [codes.length, ...a.shape.slice(-2)])
  const nan = scalarTensor(new Float(NaN), a.type)
  codes.forEach((code, i) => code !== 0 && copyInto(narrow(list, 0, i, 1), nan))
  return copy
}

type Factored = [factors: Tensor, pivots: Tensor, info: Tensor]

/** PyTorch factors contiguous real matrices as their transposes, which lie column by column in memory as LAPACK wants them. */
function factored(operator: string, a: Tensor): Factored {
  checkSquare(operator, a)
  return linalg_lu_factor_ex(a.isContiguous && !isComplex(a.type) ? transpose(a, -2, -1) : a, true, false)
}

/** x with a x = b (x a = b unless `left`), the LU factors and pivots of a, or its transpose, and the first zero pivot per matrix or 0. */
export const _linalg_solve_ex: CPU['_linalg_solve_ex'] = (a, b, left, checkErrors, ...outs) => {
  const [factors, pivots, info] = factored('linalg_solve', a)
  if (checkErrors) _linalg_check_errors(info, 'linalg.solve_ex', a.dim === 2)
  const x = linalg_solve(withoutSingular(a, info), b, left)
  return writeOutsExact([x, factors, pivots, info], outs, 'linalg_solve_ex')
}

/** As linalg_solve; singular matrices give NaN, and the number of their first zero pivot instead of 0. */
export function linalg_solve_ex(a: Tensor, b: Tensor, left: boolean, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor] {
  const [x, , , info] = _linalg_solve_ex(a, b, left, checkErrors)
  return writeOutsExact([x, info], outs, 'linalg_solve_ex')
}

/** As linalg_inv; singular matrices give NaN, and the number of their first zero pivot instead of 0. */
export function linalg_inv_ex(a: Tensor, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor] {
  checkSquare('linalg_inv', a)
  const info = linalg_lu_factor_ex(a, true, false)[2]
  if (checkErrors) _linalg_check_errors(info, 'linalg.inv_ex', a.dim === 2)
  return writeOutsExact([linalg_solve(withoutSingular(a, info), identity(a.shape, a.type), true), info], outs, 'linalg_inv_ex')
}

export function _linalg_det(a: Tensor, ...outs: Outs): [Tensor, Tensor, Tensor] {
  const [factors, pivots] = factored('linalg_det', a)
  return writeOutsExact([linalg_det(a), factors, pivots], outs, 'linalg_det')
}

export function _linalg_slogdet(a: Tensor, ...outs: Outs): [Tensor, Tensor, Tensor, Tensor] {
  const [factors, pivots] = factored('linalg_slogdet', a)
  const [sign, logabs] = linalg_slogdet(a)
  return writeOutsExact([sign, logabs, factors, pivots], outs, 'linalg_slogdet')
}

/** Lower Cholesky factor, in place; gives the order of the first minor that is not positive definite, or 0. */
function choleskyInPlace({ re, im, rows: n }: ComplexMatrix): number {
  let failed = 0
  for (let c = 0; c < n && failed === 0; c++) {
    const diagonal = c * n + c
    for (let r = c; r < n && failed === 0; r++) {
      const at = r * n + c
      let [x, y] = [re[at]!, r === c ? 0 : im[at]!]
      for (let k = 0; k < c; k++) {
        const [p, q] = [r * n + k, c * n + k]
        x -= re[p]! * re[q]! + im[p]! * im[q]!
        y -= im[p]! * re[q]! - re[p]! * im[q]!
      }
      if (r > c) {
        re[at] = x / re[diagonal]!
        im[at] = y / re[diagonal]!
        continue
      }
      im[at] = 0
      re[at] = x <= 0 ? x : Math.sqrt(x)
      if (x <= 0) failed = c + 1
    }
  }
  for (const part of [re, im]) for (let r = 0; r < n; r++) part.fill(0, r * n + r + 1, (r + 1) * n)
  return failed
}

/** As linalg_cholesky; gives per matrix 0, or the order of its first minor that is not positive definite. */
export function linalg_cholesky_ex(self: Tensor, upper: boolean, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor] {
  checkSquare('linalg_cholesky', self)
  // where upper, the other triangle is not read
  const matrices = readMatrices(upper ? adjoint(self) : self)
  const codes = Int32Array.from(matrices, choleskyInPlace)
  const factor = tensorOfMatrices(matrices, self.shape, self.type)
  const info = empty(self.shape.slice(0, -2), DType.int32)
  writeTensor(info, codes)
  if (checkErrors) _linalg_check_errors(info, 'linalg.cholesky_ex', self.dim === 2)
  return writeOutsExact([byColumns(upper ? contiguousCopy(adjoint(factor)) : factor), info], outs, 'linalg_cholesky_ex')
}
