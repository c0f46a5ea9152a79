import { PtliteError } from '../../../error.js'
import { ComplexMatrix } from './complex-matrix.js'
import { makeReflector, reflectColumns, reflectRows } from './reflector.js'

/** Schur decompositions A = Z T Z^H, T upper triangular, by the QR algorithm on Hessenberg matrices (Golub and Van Loan, "Matrix Computations", 7). */

const EPSILON = 2 ** -52
/** Sweeps in all, as LAPACK's; two or three per eigenvalue are usual. */
const mostSweeps = (n: number): number => 30 * Math.max(10, n)
/** Sweeps on one eigenvalue after which what is small beside the whole matrix is negligible too: what is left of a cluster is rounding errors. */
const PATIENCE = 20

export interface Schur {
  readonly t: ComplexMatrix
  /** Its columns are the Schur vectors; null where they were not asked for. */
  readonly z: ComplexMatrix | null
}

/** Reduces `a` to upper Hessenberg form in place; gives what the reflectors multiply to. */
function toHessenberg(a: ComplexMatrix, vectors: boolean): ComplexMatrix | null {
  const n = a.rows
  const reflectors = []
  for (let k = 0; k + 2 < n; k++) {
    const h = makeReflector(a, k + 1, k)
    reflectRows(h, a, k + 1, true)
    reflectColumns(h, a)
    reflectors.push(h)
  }
  let z: ComplexMatrix | null = null
  if (vectors) {
    z = ComplexMatrix.identity(n, n)
    for (const h of reflectors.reverse()) reflectRows(h, z, h.row, false)
  }
  for (let r = 2; r < n; r++) {
    a.re.fill(0, r * n, r * n + r - 1)
    a.im.fill(0, r * n, r * n + r - 1)
  }
  return z
}

function noConvergence(sweeps: number): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `linalg_eig: the eigenvalues of a matrix did not converge in ${sweeps} sweeps`)
}

/** The row at which the active block that ends with row `last` starts: above it a subdiagonal element is negligible, and made 0. */
function activeStart(h: ComplexMatrix, last: number, norm: number, sweeps: number): number {
  const n = h.rows
  const size = (r: number, c: number): number => Math.abs(h.re[r * n + c]!) + Math.abs(h.im[r * n + c]!)
  for (let l = last; l > 0; l--) {
    const beside = sweeps > PATIENCE ? norm : size(l - 1, l - 1) + size(l, l) || norm
    if (size(l, l - 1) <= EPSILON * beside) {
      h.re[l * n + l - 1] = 0
      h.im[l * n + l - 1] = 0
      return l
    }
  }
  return 0
}

function largestOf(values: Float64Array): number {
  let most = 0
  for (const x of values) most = Math.max(most, Math.abs(x))
  return most
}

/** T of a real Hessenberg matrix with blocks of 2 for pairs of complex eigenvalues, in place: Francis' double shift. */
function francis(h: ComplexMatrix, z: ComplexMatrix | null): void {
  const n = h.rows
  const a = h.re
  const norm = largestOf(a)
  let [sweeps, left] = [0, mostSweeps(n)]
  for (let last = n - 1; last > 0;) {
    const l = activeStart(h, last, norm, sweeps)
    if (l >= last - 1) {
      if (l === last - 1) splitRealPair(h, z, l)
      last = l - 1
      sweeps = 0
      continue
    }
    sweeps++
    if (--left < 0) throw noConvergence(mostSweeps(n))
    const at = (r: number, c: number): number => a[r * n + c]!
    let sum = at(last, last) + at(last - 1, last - 1)
    let product = at(last, last) * at(last - 1, last - 1) - at(last, last - 1) * at(last - 1, last)
    if (sweeps % 10 === 0) {
      // a shift from nowhere ends cycles
      const s = Math.abs(at(last, last - 1)) + Math.abs(at(last - 1, last - 2))
      sum = 1.5 * s
      product = s * s
    }
    let x = at(l, l) * at(l, l) + at(l, l + 1) * at(l + 1, l) - sum * at(l, l) + product
    let y = at(l + 1, l) * (at(l, l) + at(l + 1, l + 1) - sum)
    let w = at(l + 1, l) * at(l + 2, l + 1)
    for (let k = l; k < last; k++) {
      chase(h, z, k, l, last, x, y, k + 2 <= last ? w : 0)
      x = at(k + 1, k)
      y = k + 2 <= last ? at(k + 2, k) : 0
      w = k + 3 <= last ? at(k + 3, k) : 0
    }
  }
}

/** Applies the reflector that takes (x, y, w) to a multiple of its first unit vector to rows and columns k, k + 1, k + 2; the last may lack. */
function chase(h: ComplexMatrix, z: ComplexMatrix | null, k: number, l: number, last: number, x: number, y: number, w: number): void {
  const n = h.rows
  const scale = Math.max(Math.abs(x), Math.abs(y), Math.abs(w))
  if (scale === 0) return
  const [first, second, third] = [x / scale, y / scale, w / scale]
  const head = first + Math.hypot(first, second, third) * (first < 0 ? -1 : 1)
  const beta = 2 / (head * head + second * second + third * third)
  const size = k + 2 <= last ? 3 : 2
  const reflect = (m: Float64Array, from: number, count: number, stride: number, step: number): void => {
    for (let i = 0, p = from; i < count; i++, p += stride) {
      const q = p + step
      const r = size === 3 ? q + step : p
      const dot = beta * (head * m[p]! + second * m[q]! + third * m[r]!)
      m[p]! -= dot * head
      m[q]! -= dot * second
      if (size === 3) m[r]! -= dot * third
    }
  }
  // without vectors nothing beyond the active block counts
  const [top, right] = z === null ? [l, last + 1] : [0, n]
  const left = Math.max(k - 1, l)
  reflect(h.re, k * n + left, right - left, 1, n)
  reflect(h.re, top * n + k, Math.min(k + 3, last) + 1 - top, n, 1)
  if (z !== null) reflect(z.re, k, n, n, 1)
  if (k > l) for (let i = 1; i < size; i++) h.re[(k + i) * n + k - 1] = 0
}

/** Makes the block of rows k and k + 1 triangular where its eigenvalues are real. */
function splitRealPair(h: ComplexMatrix, z: ComplexMatrix | null, k: number): void {
  const n = h.rows
  const a = h.re
  const [p, q, r, s] = [a[k * n + k]!, a[k * n + k + 1]!, a[(k + 1) * n + k]!, a[(k + 1) * n + k + 1]!]
  const half = (p - s) / 2
  const root = half * half + q * r
  if (root < 0 || r === 0) return
  // (half + root, r) is an eigenvector; the sign avoids cancellation
  const x = half + (half < 0 ? -1 : 1) * Math.sqrt(root)
  const size = Math.hypot(x, r)
  rotate(h, z, k, x / size, 0, r / size)
  a[(k + 1) * n + k] = 0
}

/** Rows and columns k, k + 1 of T, and columns of Z, in the basis of (c, s) and (-s, conj c); s is real. */
function rotate(t: ComplexMatrix, z: ComplexMatrix | null, k: number, cr: number, ci: number, s: number): void {
  const n = t.rows
  const first = Math.max(k - 1, 0)
  turn(t, k * n + first, n - first, 1, n, cr, -ci, s)
  turn(t, k, Math.min(k + 3, n), n, 1, cr, ci, s)
  if (z !== null) turn(z, k, n, n, 1, cr, ci, s)
}

/** (x, y) = (c x + s y, -s x + conj(c) y) for `count` elements x, `stride` apart, and y `step` behind each. */
function turn(m: ComplexMatrix, from: number, count: number, stride: number, step: number, cr: number, ci: number, s: number): void {
  for (let i = 0, p = from; i < count; i++, p += stride) {
    const q = p + step
    const [xr, xi, yr, yi] = [m.re[p]!, m.im[p]!, m.re[q]!, m.im[q]!]
    m.re[p] = cr * xr - ci * xi + s * yr
    m.im[p] = cr * xi + ci * xr + s * yi
    m.re[q] = cr * yr + ci * yi - s * xr
    m.im[q] = cr * yi - ci * yr - s * xi
  }
}

/** Turns blocks of 2 into triangles; eigenvalues with positive imaginary parts come first, their conjugates follow. */
function splitComplexPairs(t: ComplexMatrix, z: ComplexMatrix | null): void {
  const n = t.rows
  for (let k = 0; k + 1 < n; k++) {
    const [first, second] = [k * n + k, (k + 1) * n + k + 1]
    const [p, q, r, s] = [t.re[first]!, t.re[first + 1]!, t.re[second - 1]!, t.re[second]!]
    if (r === 0) continue
    const half = (p - s) / 2
    const width = Math.sqrt(Math.max(-(half * half + q * r), 0))
    const size = Math.hypot(half, width, r)
    rotate(t, z, k, half / size, width / size, r / size)
    t.re[second - 1] = t.im[second - 1] = 0
    t.re[first] = t.re[second] = (p + s) / 2
    t.im[first] = width
    t.im[second] = -width
  }
}

/** The square root with a real part of 0 or more. */
function squareRoot(re: number, im: number): [number, number] {
  const size = Math.hypot(re, im)
  const real = Math.sqrt((size + re) / 2)
  return [real, Math.sqrt((size - re) / 2) * (im < 0 ? -1 : 1)]
}

/** The eigenvalue of the last block of 2 that is nearer to its last element (Wilkinson's shift). */
function wilkinson(h: ComplexMatrix, last: number): [number, number] {
  const n = h.rows
  const at = (r: number, c: number): [number, number] => [h.re[r * n + c]!, h.im[r * n + c]!]
  const [[ar, ai], [br, bi], [cr, ci], [dr, di]] = [at(last - 1, last - 1), at(last - 1, last), at(last, last - 1), at(last, last)]
  const [hr, hi] = [(ar - dr) / 2, (ai - di) / 2]
  const [pr, pi] = [br * cr - bi * ci, br * ci + bi * cr]
  const [sr, si] = squareRoot(hr * hr - hi * hi + pr, 2 * hr * hi + pi)
  const sign = hr * sr + hi * si < 0 ? -1 : 1
  const [qr, qi] = [hr + sign * sr, hi + sign * si]
  const size = qr * qr + qi * qi
  return size === 0 ? [dr, di] : [dr - (pr * qr + pi * qi) / size, di - (pi * qr - pr * qi) / size]
}

/** T of a complex Hessenberg matrix, in place, by single shifts. */
function singleShift(h: ComplexMatrix, z: ComplexMatrix | null): void {
  const n = h.rows
  const norm = Math.max(largestOf(h.re), largestOf(h.im))
  let [sweeps, left] = [0, mostSweeps(n)]
  for (let last = n - 1; last > 0;) {
    const l = activeStart(h, last, norm, sweeps)
    if (l === last) {
      last--
      sweeps = 0
      continue
    }
    sweeps++
    if (--left < 0) throw noConvergence(mostSweeps(n))
    const below = last * n + last - 1
    const [sr, si] = sweeps % 10 === 0 ? [Math.abs(h.re[below]!) + Math.abs(h.im[below]!), 0] : wilkinson(h, last)
    let [xr, xi] = [h.re[l * n + l]! - sr, h.im[l * n + l]! - si]
    for (let k = l; k < last; k++) {
      const column = k === l ? l : k - 1
      const y = (k + 1) * n + column
      if (k > l) [xr, xi] = [h.re[y - n]!, h.im[y - n]!]
      const [yr, yi] = [h.re[y]!, h.im[y]!]
      const below = Math.hypot(yr, yi)
      if (below === 0) continue
      const size = Math.hypot(xr, xi, below)
      // the phase of y is taken off both
      rotate(h, z, k, (xr * yr + xi * yi) / below / size, (xi * yr - xr * yi) / below / size, below / size)
      if (k > l) h.re[y] = h.im[y] = 0
    }
  }
}

/** Destroys `a`. Throws INVALID_ARGUMENT where the iteration does not converge. */
export function schur(a: ComplexMatrix, isReal: boolean, vectors: boolean): Schur {
  const z = toHessenberg(a, vectors)
  if (isReal) {
    francis(a, z)
    splitComplexPairs(a, z)
  } else singleShift(a, z)
  return { t: a, z }
}
