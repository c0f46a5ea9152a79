import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { partOf } from '../../tensor/complex.js'
import { DType, isComplex, realOf } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { narrow, transpose } from '../../tensor/view.js'
import { byColumns, columnStrides } from '../support/columns.js'
import { castTo, contiguousCopy, contiguousOf, copyInto, laidOut } from '../support/copy.js'
import { writeOutsExact, type Outs } from '../support/write-out.js'
import { zerosOf } from '../support/make.js'
import { checkAnyMatrices } from './factor/complex-matrix.js'
import { _conj_physical } from './float-parts.js'
import { adjoint } from './linalg.js'

/** QR, eigenvalue, singular value and LU decompositions. All are computed in float64 and rounded to the input's dtype. */

function sizesOf(a: Tensor): { batch: readonly number[]; rows: number; cols: number } {
  const [rows, cols] = a.shape.slice(-2) as [number, number]
  return { batch: a.shape.slice(0, -2), rows, cols }
}

/** The dtype in which these matrices are decomposed. */
const workingType = (a: Tensor): DType => (isComplex(a.type) ? DType.complex128 : DType.float64)

/** A row-major copy in double precision that a kernel may overwrite. */
function workingCopy(a: Tensor): Tensor {
  const type = workingType(a)
  return a.type === type ? contiguousCopy(a) : contiguousOf(castTo(a, type))
}

const doubles = (...shape: number[]): Tensor => zerosOf(shape, DType.float64)
const flagOf = (a: Tensor): number => (isComplex(a.type) ? 1 : 0)

/** torch.linalg.qr: `reduced` and `complete` give Q and R, `r` an empty Q. */
export function linalg_qr(a: Tensor, mode: string, ...outs: Outs): [Tensor, Tensor] {
  checkAnyMatrices('linalg_qr', a)
  check(['reduced', 'complete', 'r'].includes(mode), () => `linalg_qr: expected mode 'reduced', 'complete' or 'r', found '${mode}'`)
  const { batch, rows, cols } = sizesOf(a)
  const least = Math.min(rows, cols)
  const width = mode === 'r' ? 0 : mode === 'complete' ? rows : least
  const r = workingCopy(a)
  const q = zerosOf([...batch, rows, width], workingType(a))
  if (rows > 0) kernels.householder_qr({ complex: flagOf(a), batch: numelOf(batch), rows, cols, q_cols: width, a: r.address, q: q.address })
  const kept = mode === 'complete' ? r : narrow(r, -2, 0, least)
  return writeOutsExact(
    [mode === 'r' ? empty([0], a.type) : byColumns(castTo(q, a.type)), byColumns(castTo(contiguousCopy(kept), a.type))],
    outs,
    'linalg_qr',
  )
}

/** Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices, of which one triangle is read. */
export function _linalg_eigh(a: Tensor, uplo: string, vectors: boolean, ...outs: Outs): [Tensor, Tensor] {
  checkAnyMatrices('linalg_eigh', a)
  const { batch, rows: n, cols } = sizesOf(a)
  check(n === cols, () => `linalg_eigh: expected square matrices, found shape [${a.shape.join(', ')}]`)
  check(/^[LlUu]$/.test(uplo), () => `linalg_eigh: expected UPLO 'L' or 'U', found '${uplo}'`)
  const lower = workingCopy(/[Ll]/.test(uplo) ? a : adjoint(a))
  mirror(lower, n)
  const values = doubles(...batch, n)
  const columns = zerosOf([...batch, n, n], workingType(a))
  if (n > 0)
    kernels.symmetric_eigen({
      complex: flagOf(a),
      batch: numelOf(batch),
      n,
      a: lower.address,
      values: values.address,
      vectors: columns.address,
    })
  return writeOutsExact(
    [castTo(values, realOf(a.type)), vectors ? byColumns(castTo(columns, a.type)) : empty([0], a.type)],
    outs,
    'linalg_eigh',
  )
}

/** Copies the lower triangle of dense matrices to the upper one, conjugates of complex elements, whose diagonal is real. */
function mirror(a: Tensor, n: number): void {
  const pairs = isComplex(a.type)
  for (let i = 0; i < n; i++) {
    const column = transpose(narrow(narrow(a, -2, i, n - i), -1, i, 1), -2, -1)
    copyInto(narrow(narrow(a, -2, i, 1), -1, i, n - i), pairs ? _conj_physical(column) : column)
    if (pairs) copyInto(partOf(narrow(narrow(a, -2, i, 1), -1, i, 1), 1), zerosOf([], DType.float64))
  }
}

/** A = U diag(S) V^H, S descending; `full` gives square U and V. Without `vectors` U and V are empty. */
export function _linalg_svd(a: Tensor, full: boolean, vectors: boolean, _driver: string | null, ...outs: Outs): [Tensor, Tensor, Tensor] {
  checkAnyMatrices('linalg_svd', a)
  const { batch, rows, cols } = sizesOf(a)
  const wide = rows < cols
  const [tall, least] = wide ? [cols, rows] : [rows, cols]
  const width = full ? tall : least
  const work = workingCopy(wide ? adjoint(a) : a)
  const u = zerosOf([...batch, tall, width], workingType(a))
  const values = doubles(...batch, least)
  const v = zerosOf([...batch, least, least], workingType(a))
  if (tall > 0) {
    kernels.singular_values({
      complex: flagOf(a),
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
  const s = castTo(values, realOf(a.type))
  const given = (u: Tensor, vh: Tensor): [Tensor, Tensor, Tensor] => writeOutsExact([u, s, vh], outs, 'linalg_svd')
  if (!vectors) return given(empty([0], a.type), empty([0], a.type))
  const kept = (t: Tensor): Tensor => byColumns(castTo(t, a.type))
  // copies in rows are columns when seen the other way round
  const flipped = (t: Tensor): Tensor => laidOut(adjoint(castTo(t, a.type)), columnStrides([...batch, t.shape.at(-1)!, t.shape.at(-2)!]))
  return wide ? given(kept(v), flipped(u)) : given(kept(u), flipped(v))
}

/** LU in one matrix, LAPACK's pivots, and the number of the first zero pivot per matrix. */
export function linalg_lu_factor_ex(a: Tensor, pivot: boolean, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  checkAnyMatrices('linalg_lu_factor', a)
  check(pivot, () => 'linalg_lu_factor: on the CPU pivot must be true')
  const { batch, rows, cols } = sizesOf(a)
  const factors = workingCopy(a)
  const pivots = zerosOf([...batch, Math.min(rows, cols)], DType.int32)
  const info = zerosOf(batch, DType.int32)
  if (factors.numel > 0) {
    kernels.lu_factor({
      complex: flagOf(a),
      batch: numelOf(batch),
      rows,
      cols,
      a: factors.address,
      pivots: pivots.address,
      singular: info.address,
    })
  }
  check(!checkErrors || !readInts(info).some((i) => i !== 0), () => 'linalg_lu_factor: expected regular matrices, found a singular one')
  return writeOutsExact([byColumns(castTo(factors, a.type)), pivots, info], outs, 'linalg_lu_factor')
}
