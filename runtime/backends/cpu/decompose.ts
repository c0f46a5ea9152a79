import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { narrow } from '../../tensor/axes.js'
import { transpose } from '../../tensor/view.js'
import { castTo, contiguousCopy, contiguousOf, copyInto } from '../support/copy.js'
import { deliverAllExact, type Outs } from '../support/deliver.js'
import { zerosOf } from '../support/make.js'

/** QR, eigenvalue, singular value and LU decompositions. All are computed in float64 and rounded to the input's dtype. */

function checkMatrices(operator: string, a: Tensor): void {
  check(a.dim >= 2, () => `${operator}: expected matrices, found shape [${a.shape.join(', ')}]`)
  if (a.type !== DType.float32 && a.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected float32 or float64 matrices, found ${a.dtype}`)
  }
}

function sizesOf(a: Tensor): { batch: readonly number[]; rows: number; cols: number } {
  const [rows, cols] = a.shape.slice(-2) as [number, number]
  return { batch: a.shape.slice(0, -2), rows, cols }
}

/** A row-major float64 copy that a kernel may overwrite. */
function workingCopy(a: Tensor): Tensor {
  return a.type === DType.float64 ? contiguousCopy(a) : contiguousOf(castTo(a, DType.float64))
}

const doubles = (...shape: number[]): Tensor => zerosOf(shape, DType.float64)

/** torch.linalg.qr: `reduced` and `complete` give Q and R, `r` an empty Q. */
export function linalg_qr(a: Tensor, mode: string, ...outs: Outs): [Tensor, Tensor] {
  checkMatrices('linalg_qr', a)
  check(['reduced', 'complete', 'r'].includes(mode), () => `linalg_qr: expected mode 'reduced', 'complete' or 'r', found '${mode}'`)
  const { batch, rows, cols } = sizesOf(a)
  const least = Math.min(rows, cols)
  const width = mode === 'r' ? 0 : mode === 'complete' ? rows : least
  const r = workingCopy(a)
  const q = doubles(...batch, rows, width)
  if (rows > 0) kernels.householder_qr({ batch: numelOf(batch), rows, cols, q_cols: width, a: r.address, q: q.address })
  const kept = mode === 'complete' ? r : narrow(r, -2, 0, least)
  return deliverAllExact([mode === 'r' ? empty([0], a.type) : castTo(q, a.type), castTo(contiguousOf(kept), a.type)], outs, 'linalg_qr')
}

/** Eigenvalues, ascending, and eigenvectors of symmetric matrices, of which one triangle is read. */
export function _linalg_eigh(a: Tensor, uplo: string, vectors: boolean, ...outs: Outs): [Tensor, Tensor] {
  checkMatrices('linalg_eigh', a)
  const { batch, rows: n, cols } = sizesOf(a)
  check(n === cols, () => `linalg_eigh: expected square matrices, found shape [${a.shape.join(', ')}]`)
  check(/^[LlUu]$/.test(uplo), () => `linalg_eigh: expected UPLO 'L' or 'U', found '${uplo}'`)
  const lower = workingCopy(/[Ll]/.test(uplo) ? a : transpose(a, -2, -1))
  mirror(lower, n)
  const values = doubles(...batch, n)
  const columns = doubles(...batch, n, n)
  if (n > 0) kernels.symmetric_eigen({ batch: numelOf(batch), n, a: lower.address, values: values.address, vectors: columns.address })
  return deliverAllExact([castTo(values, a.type), vectors ? castTo(columns, a.type) : empty([0], a.type)], outs, 'linalg_eigh')
}

/** Copies the lower triangle of dense matrices to the upper one. */
function mirror(a: Tensor, n: number): void {
  for (let i = 0; i < n; i++)
    copyInto(narrow(narrow(a, -2, i, 1), -1, i, n - i), transpose(narrow(narrow(a, -2, i, n - i), -1, i, 1), -2, -1))
}

/** A = U diag(S) V^H, S descending; `full` gives square U and V. Without `vectors` U and V are empty. */
export function _linalg_svd(a: Tensor, full: boolean, vectors: boolean, _driver: string | null, ...outs: Outs): [Tensor, Tensor, Tensor] {
  checkMatrices('linalg_svd', a)
  const { batch, rows, cols } = sizesOf(a)
  const wide = rows < cols
  const [tall, least] = wide ? [cols, rows] : [rows, cols]
  const width = full ? tall : least
  const work = workingCopy(wide ? transpose(a, -2, -1) : a)
  const u = doubles(...batch, tall, width)
  const values = doubles(...batch, least)
  const v = doubles(...batch, least, least)
  if (tall > 0) {
    kernels.singular_values({
      batch: numelOf(batch),
      rows: tall,
      cols: least,
      u_cols: width,
      a: work.address,
      u: u.address,
      values: values.address,
      v: v.address,
    })
  }
  const s = castTo(values, a.type)
  const given = (u: Tensor, vh: Tensor): [Tensor, Tensor, Tensor] => deliverAllExact([u, s, vh], outs, 'linalg_svd')
  if (!vectors) return given(empty([0], a.type), empty([0], a.type))
  const flipped = (t: Tensor): Tensor => contiguousOf(transpose(castTo(t, a.type), -2, -1))
  return wide ? given(castTo(v, a.type), flipped(u)) : given(castTo(u, a.type), flipped(v))
}

/** LU in one matrix, LAPACK's pivots, and the number of the first zero pivot per matrix. */
export function linalg_lu_factor_ex(a: Tensor, pivot: boolean, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  checkMatrices('linalg_lu_factor', a)
  check(pivot, () => 'linalg_lu_factor: on the CPU pivot must be true')
  const { batch, rows, cols } = sizesOf(a)
  const factors = workingCopy(a)
  const pivots = zerosOf([...batch, Math.min(rows, cols)], DType.int32)
  const info = zerosOf(batch, DType.int32)
  if (factors.numel > 0) {
    kernels.lu_factor({ batch: numelOf(batch), rows, cols, a: factors.address, pivots: pivots.address, singular: info.address })
  }
  check(!checkErrors || !readInts(info).some((i) => i !== 0), () => 'linalg_lu_factor: expected regular matrices, found a singular one')
  return deliverAllExact([castTo(factors, a.type), pivots, info], outs, 'linalg_lu_factor')
}
