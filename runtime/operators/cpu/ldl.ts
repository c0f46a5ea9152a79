import { check, PtliteError } from '../../error.js'
import { writeTensor } from '../../tensor/data.js'
import { DType, isComplex } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { broadcastShapes, sameShape, shapeText } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { bunchKaufman, solveBlock } from './factor/bunch-kaufman.js'
import { checkAnyMatrices, type ComplexMatrix, readMatrices, tensorOfMatrices } from './factor/complex-matrix.js'
import { byColumns } from '../support/columns.js'
import { writeOutsExact, writeOutExact, type Outs } from '../support/write-out.js'
import { expandTo } from '../support/make.js'
import { checkSameType } from '../support/product.js'
import { _linalg_check_errors } from './solve-info.js'

/** LDL decompositions of symmetric or Hermitian matrices, of which the lower triangle is read. Real and complex, computed in float64. */

function checkSquare(operator: string, a: Tensor): number {
  checkAnyMatrices(operator, a)
  const [rows, cols] = a.shape.slice(-2) as [number, number]
  check(rows === cols, () => `${operator}: expected square matrices, found shape ${shapeText(a.shape)}`)
  return rows
}

function factor(operator: string, self: Tensor, hermitian: boolean, checkErrors: boolean): [Tensor, Tensor, Tensor] {
  const n = checkSquare(operator, self)
  const batch = self.shape.slice(0, -2)
  const pivots = empty([...batch, n], DType.int32)
  const info = empty(batch, DType.int32)
  const rows = new Int32Array(pivots.numel)
  const matrices = readMatrices(self)
  const codes = Int32Array.from(matrices, (a, b) => bunchKaufman(a, hermitian && isComplex(self.type), rows, b * n))
  writeTensor(pivots, rows)
  writeTensor(info, codes)
  if (checkErrors) _linalg_check_errors(info, `linalg.${operator.slice('linalg_'.length)}`, self.dim === 2)
  return [byColumns(tensorOfMatrices(matrices, self.shape, self.type)), pivots, info]
}

/** L below the diagonal and D in one matrix, LAPACK's pivots (negative for blocks of two), and the first zero pivot per matrix or 0. */
export function linalg_ldl_factor_ex(self: Tensor, hermitian: boolean, checkErrors: boolean, ...outs: Outs): [Tensor, Tensor, Tensor] {
  return writeOutsExact(factor('linalg_ldl_factor_ex', self, hermitian, checkErrors), outs, 'linalg_ldl_factor_ex')
}

/** As linalg_ldl_factor_ex; singular matrices throw. */
export function linalg_ldl_factor(self: Tensor, hermitian: boolean, ...outs: Outs): [Tensor, Tensor] {
  const [factors, pivots] = factor('linalg_ldl_factor', self, hermitian, true)
  return writeOutsExact([factors, pivots], outs, 'linalg_ldl_factor')
}

/** b[row] -= sum over `from` of l[i][column] b[i], conjugated where `adjoint`. */
function subtractBelow(a: ComplexMatrix, b: ComplexMatrix, column: number, from: number, adjoint: boolean): void {
  const width = b.cols
  for (let i = from; i < a.rows; i++) {
    const [lr, li] = [a.re[i * a.cols + column]!, a.im[i * a.cols + column]! * (adjoint ? -1 : 1)]
    for (let c = 0; c < width; c++) {
      const [x, to] = [i * width + c, column * width + c]
      b.re[to]! -= lr * b.re[x]! - li * b.im[x]!
      b.im[to]! -= lr * b.im[x]! + li * b.re[x]!
    }
  }
}

/** b[i] -= l[i][column] b[column] for each i >= from. */
function subtractFrom(a: ComplexMatrix, b: ComplexMatrix, column: number, from: number): void {
  const width = b.cols
  for (let i = from; i < a.rows; i++) {
    const [lr, li] = [a.re[i * a.cols + column]!, a.im[i * a.cols + column]!]
    for (let c = 0; c < width; c++) {
      const [x, to] = [column * width + c, i * width + c]
      b.re[to]! -= lr * b.re[x]! - li * b.im[x]!
      b.im[to]! -= lr * b.im[x]! + li * b.re[x]!
    }
  }
}

function divideRow(a: ComplexMatrix, b: ComplexMatrix, k: number): void {
  const [dr, di] = [a.re[k * a.cols + k]!, a.im[k * a.cols + k]!]
  const size = dr * dr + di * di
  for (let at = k * b.cols; at < (k + 1) * b.cols; at++) {
    const [x, y] = [b.re[at]!, b.im[at]!]
    b.re[at] = di === 0 ? x / dr : (x * dr + y * di) / size
    b.im[at] = di === 0 ? y / dr : (y * dr - x * di) / size
  }
}

/** Rows of D's blocks: [first row, size, row exchanged with the last]. */
function blocksOf(pivots: readonly number[]): [number, number, number][] {
  const blocks: [number, number, number][] = []
  for (let k = 0; k < pivots.length;) {
    const row = Math.abs(pivots[k]!) - 1
    const size = pivots[k]! < 0 ? 2 : 1
    check(
      row >= 0 && row < pivots.length && k + size <= pivots.length && (size === 1 || pivots[k + 1] === pivots[k]),
      () => `linalg_ldl_solve: expected pivots as linalg_ldl_factor gives them, found [${pivots.join(', ')}]`,
    )
    blocks.push([k, size, row])
    k += size
  }
  return blocks
}

function solve(a: ComplexMatrix, pivots: readonly number[], b: ComplexMatrix, hermitian: boolean): void {
  const blocks = blocksOf(pivots)
  for (const [k, size, row] of blocks) {
    b.swapRows(k + size - 1, row)
    for (let c = k; c < k + size; c++) subtractFrom(a, b, c, k + size)
    if (size === 1) divideRow(a, b, k)
    else {
      for (let p = k * b.cols, q = p + b.cols; p < (k + 1) * b.cols; p++, q++) {
        const right = [b.re[p]!, b.im[p]!, b.re[q]!, b.im[q]!] as const
        ;[b.re[p], b.im[p], b.re[q], b.im[q]] = solveBlock(a, k, right, hermitian, false)
      }
    }
  }
  for (const [k, size, row] of blocks.reverse()) {
    for (let c = k; c < k + size; c++) subtractBelow(a, b, c, k + size, hermitian)
    b.swapRows(k + size - 1, row)
  }
}

/** x with A x = b, from the LDL factors and pivots of A; batches are broadcast. */
export function linalg_ldl_solve(factors: Tensor, pivots: Tensor, b: Tensor, hermitian: boolean, out?: Tensor): Tensor {
  const operator = 'linalg_ldl_solve'
  const n = checkSquare(operator, factors)
  checkAnyMatrices(operator, b)
  checkSameType(operator, factors, b)
  check(
    b.shape[b.dim - 2] === n && sameShape(pivots.shape, factors.shape.slice(0, -1)),
    () =>
      `${operator}: factors, pivots and b of shapes ${[factors, pivots, b].map((t) => shapeText(t.shape)).join(', ')} do not fit together`,
  )
  if (pivots.type !== DType.int32 && pivots.type !== DType.int64) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected integer pivots, found ${pivots.dtype}`)
  }
  const batch = broadcastShapes(factors.shape.slice(0, -2), b.shape.slice(0, -2))
  const shape = [...batch, n, b.shape[b.dim - 1]!]
  const rows = readInts(expandTo(pivots, [...batch, n]))
  const matrices = readMatrices(expandTo(factors, [...batch, n, n]))
  const solutions = readMatrices(expandTo(b, shape))
  solutions.forEach((x, i) => solve(matrices[i]!, rows.slice(i * n, (i + 1) * n), x, hermitian && isComplex(factors.type)))
  return writeOutExact(byColumns(tensorOfMatrices(solutions, shape, factors.type)), out, operator)
}
