import type { ComplexMatrix } from './complex-matrix.js'

/**
 * P A P^T = L D L^T, or L D L^H for Hermitian matrices, with blocks of 1 and 2 in D: the diagonal pivoting of Bunch and Kaufman ("Some stable
 * methods for calculating inertia and solving symmetric linear systems", 1977), in the form of LAPACK's sytrf and hetrf for lower triangles.
 */

/** Keeps growth of the elements least. */
const ALPHA = (1 + Math.sqrt(17)) / 8

interface Pivot {
  /** Columns of the block of D: 1 or 2. */
  readonly size: number
  /** The row that becomes the block's last. */
  readonly row: number
  readonly singular: boolean
}

const size1 = (a: ComplexMatrix, r: number, c: number): number => Math.abs(a.re[r * a.cols + c]!) + Math.abs(a.im[r * a.cols + c]!)

function choosePivot(a: ComplexMatrix, k: number, diagonal: (i: number) => number): Pivot {
  const n = a.rows
  let below = k
  let colmax = 0
  for (let i = k + 1; i < n; i++) {
    if (size1(a, i, k) > colmax) [below, colmax] = [i, size1(a, i, k)]
  }
  const here = diagonal(k)
  if (Math.max(here, colmax) === 0 || Number.isNaN(here)) return { size: 1, row: k, singular: true }
  if (here >= ALPHA * colmax) return { size: 1, row: k, singular: false }
  let rowmax = 0
  for (let j = k; j < below; j++) rowmax = Math.max(rowmax, size1(a, below, j))
  for (let i = below + 1; i < n; i++) rowmax = Math.max(rowmax, size1(a, i, below))
  if (here >= ALPHA * colmax * (colmax / rowmax)) return { size: 1, row: k, singular: false }
  return { size: diagonal(below) >= ALPHA * rowmax ? 1 : 2, row: below, singular: false }
}

/** Exchanges rows and columns `from` and `to` > from of the lower triangle from column k on. */
function exchange(a: ComplexMatrix, k: number, from: number, to: number, hermitian: boolean): void {
  const n = a.rows
  for (const part of [a.re, a.im]) {
    const swap = (x: number, y: number, sign: number): void => {
      const kept = part[x]!
      part[x] = sign * part[y]!
      part[y] = sign * kept
    }
    const sign = hermitian && part === a.im ? -1 : 1
    for (let i = to + 1; i < n; i++) swap(i * n + from, i * n + to, 1)
    for (let j = from + 1; j < to; j++) swap(j * n + from, to * n + j, sign)
    if (sign < 0) part[to * n + from]! *= -1
    swap(from * n + from, to * n + to, 1)
    if (from > k) swap(from * n + k, to * n + k, 1)
  }
}

/** Subtracts column `c` of L times the (conjugated) numbers w of each column j >= first from the lower triangle behind. */
function subtractOuter(a: ComplexMatrix, first: number, c: number, wr: Float64Array, wi: Float64Array, hermitian: boolean): void {
  const n = a.rows
  const sign = hermitian ? -1 : 1
  for (let j = first; j < n; j++) {
    const [xr, xi] = [wr[j]!, sign * wi[j]!]
    for (let i = j; i < n; i++) {
      const [lr, li] = [a.re[i * n + c]!, a.im[i * n + c]!]
      a.re[i * n + j]! -= lr * xr - li * xi
      a.im[i * n + j]! -= lr * xi + li * xr
    }
  }
}

/** x / y of complex numbers. */
function quotient(xr: number, xi: number, yr: number, yi: number): [number, number] {
  if (yi === 0) return [xr / yr, xi / yr]
  const size = Math.hypot(yr, yi)
  const [ur, ui] = [yr / size, yi / size]
  return [(xr * ur + xi * ui) / size, (xi * ur - xr * ui) / size]
}

function eliminateOne(a: ComplexMatrix, k: number, hermitian: boolean): void {
  const n = a.rows
  const at = k * n + k
  const [wr, wi] = [new Float64Array(n), new Float64Array(n)]
  for (let j = k + 1; j < n; j++) {
    ;[wr[j], wi[j]] = quotient(a.re[j * n + k]!, a.im[j * n + k]!, a.re[at]!, a.im[at]!)
  }
  subtractOuter(a, k + 1, k, wr, wi, hermitian)
  for (let j = k + 1; j < n; j++) {
    a.re[j * n + k] = wr[j]!
    a.im[j * n + k] = wi[j]!
  }
}

/** Solves the block of D at k for each row behind it: w D = row, and w becomes the row of L. */
function eliminateTwo(a: ComplexMatrix, k: number, hermitian: boolean): void {
  const n = a.rows
  const rows = Array.from({ length: 4 }, () => new Float64Array(n))
  const [ur, ui, vr, vi] = rows as [Float64Array, Float64Array, Float64Array, Float64Array]
  for (let j = k + 2; j < n; j++) {
    const [p, q] = [j * n + k, j * n + k + 1]
    const right = [a.re[p]!, a.im[p]!, a.re[q]!, a.im[q]!] as const
    ;[ur[j], ui[j], vr[j], vi[j]] = solveBlock(a, k, right, hermitian, true)
  }
  subtractOuter(a, k + 2, k, ur, ui, hermitian)
  subtractOuter(a, k + 2, k + 1, vr, vi, hermitian)
  for (let j = k + 2; j < n; j++) {
    a.re[j * n + k] = ur[j]!
    a.im[j * n + k] = ui[j]!
    a.re[j * n + k + 1] = vr[j]!
    a.im[j * n + k + 1] = vi[j]!
  }
}

type Two = readonly [number, number, number, number]

/** x with D x = b, or x D = b where `row`, for the block [d11 conj(d21); d21 d22] of D at k; scaled by d21, its largest element. */
export function solveBlock(a: ComplexMatrix, k: number, [br, bi, cr, ci]: Two, hermitian: boolean, row: boolean): Two {
  const n = a.cols
  const d = (r: number, c: number): [number, number] => [a.re[r * n + c]!, a.im[r * n + c]!]
  const [lr, li] = d(k + 1, k)
  const lower = [lr, li] as const
  const upper = [lr, hermitian ? -li : li] as const
  const [first, second] = row ? [lower, upper] : [upper, lower]
  // D x = b reads d11 x1 + upper x2 = b1, lower x1 + d22 x2 = b2
  const [pr, pi] = quotient(...d(k, k), ...first)
  const [qr, qi] = quotient(...d(k + 1, k + 1), ...second)
  const [er, ei] = quotient(br, bi, ...first)
  const [fr, fi] = quotient(cr, ci, ...second)
  const [dr, di] = [pr * qr - pi * qi - 1, pr * qi + pi * qr]
  const x = quotient(qr * er - qi * ei - fr, qr * ei + qi * er - fi, dr, di)
  const y = quotient(pr * fr - pi * fi - er, pr * fi + pi * fr - ei, dr, di)
  return [...x, ...y]
}

/** Factors the lower triangle of `a` in place, zeros above; writes LAPACK's pivots, and gives the number from 1 of the first zero pivot or 0. */
export function bunchKaufman(a: ComplexMatrix, hermitian: boolean, pivots: Int32Array, at: number): number {
  const n = a.rows
  let singular = 0
  for (let r = 0; r < n; r++) {
    a.re.fill(0, r * n + r + 1, (r + 1) * n)
    a.im.fill(0, r * n + r + (hermitian ? 0 : 1), (r + 1) * n)
  }
  const diagonal = (i: number): number => (hermitian ? Math.abs(a.re[i * n + i]!) : size1(a, i, i))
  for (let k = 0; k < n;) {
    const pivot = choosePivot(a, k, diagonal)
    const last = k + pivot.size - 1
    if (pivot.singular) {
      if (singular === 0) singular = k + 1
    } else {
      if (pivot.row !== last) exchange(a, k, last, pivot.row, hermitian)
      if (pivot.size === 1) eliminateOne(a, k, hermitian)
      else eliminateTwo(a, k, hermitian)
      // what rounding leaves of the imaginary parts
      if (hermitian) for (let j = k; j < n; j++) a.im[j * n + j] = 0
    }
    for (let i = k; i <= last; i++) pivots[at + i] = pivot.size === 1 ? pivot.row + 1 : -(pivot.row + 1)
    k += pivot.size
  }
  return singular
}
