import { check, PtliteError } from '../../error.js'
import { writeTensor } from '../../tensor/data.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { diagonal, narrow, transpose } from '../../tensor/view.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { byColumns } from '../support/columns.js'
import { writeOut, writeOutsExact, type Outs } from '../support/write-out.js'
import { filled } from '../support/make.js'
import * as at from '../generated/dispatch.js'
import { conj } from './complex-views.js'
import { tril, triu } from './diagonal.js'

/** LU factors apart, and systems solved with them. */

const mT = (t: Tensor): Tensor => transpose(t, -2, -1)
const mH = (t: Tensor): Tensor => conj(mT(t))

export function linalg_lu_factor(a: Tensor, pivot: boolean, ...outs: Outs): [Tensor, Tensor] {
  const [lu, pivots] = at.linalg_lu_factor_ex(a, pivot, true)
  return writeOutsExact([lu, pivots], outs, 'linalg_lu_factor')
}

export function _lu_with_info(self: Tensor, pivot: boolean, _checkErrors: boolean): [Tensor, Tensor, Tensor] {
  return at.linalg_lu_factor_ex(self, pivot, false)
}

export function linalg_lu(a: Tensor, pivot: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  const [lu, pivots] = at.linalg_lu_factor_ex(a, pivot, false)
  return lu_unpack(lu, pivots, true, true, ...outs)
}

/** The permutation matrices, unit lower and upper factors that LU matrices and pivots hold; what is not asked for is empty. */
export function lu_unpack(lu: Tensor, pivots: Tensor, data: boolean, permutation: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  check(lu.dim >= 2, () => `lu_unpack: expected matrices, found shape [${lu.shape.join(', ')}]`)
  if (pivots.type !== DType.int32)
    throw new PtliteError('INVALID_DTYPE', `lu_unpack: expected int32 pivots, found ${dtypeName(pivots.type)}`)
  const least = Math.min(...lu.shape.slice(-2))
  const none = (): Tensor => empty([0], lu.type)
  const p = permutation ? permutationOf(pivots, lu) : none()
  const given = (l: Tensor, u: Tensor): [Tensor, Tensor, Tensor] => writeOutsExact([p, l, u], outs, 'lu_unpack')
  if (!data) return given(none(), none())
  const lower = contiguousOf(tril(narrow(lu, -1, 0, least), -1))
  copyInto(diagonal(lower, 0, -2, -1), filled([], lu.type, 1))
  return given(lower, contiguousOf(triu(narrow(lu, -2, 0, least), 0)))
}

/** Order of the rows after the exchanges of `pivots`, per matrix. */
function rowOrders(pivots: Tensor, rows: number): number[][] {
  const swaps = readInts(pivots)
  const steps = pivots.shape[pivots.dim - 1]!
  return Array.from({ length: numelOf(pivots.shape.slice(0, -1)) }, (_, b) => {
    const order = Array.from({ length: rows }, (_, i) => i)
    for (let k = 0; k < steps; k++) {
      const other = swaps[b * steps + k]! - 1
      check(other >= 0 && other < rows && k < rows, () => `expected pivots from 1 to ${rows}, found ${other + 1}`)
      const row = order[k]!
      order[k] = order[other]!
      order[other] = row
    }
    return order
  })
}

function permutationOf(pivots: Tensor, lu: Tensor): Tensor {
  const rows = lu.shape[lu.dim - 2]!
  const p = empty([...lu.shape.slice(0, -2), rows, rows], DType.float64)
  const values = new Float64Array(p.numel)
  rowOrders(pivots, rows).forEach((order, b) => order.forEach((from, to) => (values[(b * rows + from) * rows + to] = 1)))
  writeTensor(p, values)
  return castTo(p, lu.type)
}

/** x with A x = B (or x A = B, or A transposed), from A's LU factors. */
export function linalg_lu_solve(lu: Tensor, pivots: Tensor, b: Tensor, left: boolean, adjoint: boolean, out?: Tensor): Tensor {
  return writeOut(solved(lu, pivots, b, left, adjoint), out)
}

function solved(lu: Tensor, pivots: Tensor, b: Tensor, left: boolean, adjoint: boolean): Tensor {
  // x A = b says that A^H x^H = b^H
  if (!left) return mH(solved(lu, pivots, mH(b), true, !adjoint))
  const [p, l, u] = lu_unpack(lu, pivots, true, true)
  const solve = (a: Tensor, x: Tensor, upper: boolean, unit: boolean): Tensor => at.linalg_solve_triangular(a, x, upper, true, unit)
  if (adjoint) return byColumns(at.matmul(p, solve(mH(l), solve(mH(u), b, false, false), true, true)))
  return solve(u, solve(l, at.matmul(mT(p), b), false, true), true, false)
}

export function lu_solve(self: Tensor, lu: Tensor, pivots: Tensor, out?: Tensor): Tensor {
  return linalg_lu_solve(lu, pivots, self, true, false, out)
}
