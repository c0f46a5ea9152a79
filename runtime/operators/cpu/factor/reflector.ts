import type { ComplexMatrix } from './complex-matrix.js'

/** Householder's reflectors I - tau v v^H as LAPACK has them: v is 1 at its first place and kept below it, tau beside it. */

export interface Reflector {
  /** Holds v in column `col` below row `row`. */
  readonly in: ComplexMatrix
  readonly row: number
  readonly col: number
  readonly re: number
  readonly im: number
}

/** Makes the reflector whose adjoint takes column `col` from row `row` on to a real multiple of its first unit vector, and puts both there. */
export function makeReflector(a: ComplexMatrix, row: number, col: number): Reflector {
  const { rows, cols, re, im } = a
  const first = row * cols + col
  let below = 0
  for (let i = first + cols; i < rows * cols; i += cols) below = Math.hypot(below, re[i]!, im[i]!)
  const [x, y] = [re[first]!, im[first]!]
  if (below === 0 && y === 0) return { in: a, row, col, re: 0, im: 0 }
  const beta = -Math.hypot(x, y, below) * (x < 0 || Object.is(x, -0) ? -1 : 1)
  // divide by x + iy - beta
  const [dr, di] = [x - beta, y]
  const size = dr * dr + di * di
  for (let i = first + cols; i < rows * cols; i += cols) {
    const [p, q] = [re[i]!, im[i]!]
    re[i] = size > 1e-290 && size < 1e290 ? (p * dr + q * di) / size : p / dr
    im[i] = size > 1e-290 && size < 1e290 ? (q * dr - p * di) / size : q / dr
  }
  re[first] = beta
  im[first] = 0
  return { in: a, row, col, re: (beta - x) / beta, im: -y / beta }
}

/** m = (I - tau v v^H) m for the columns from `start` on, with the conjugate of tau where `adjoint`. */
export function reflectRows(h: Reflector, m: ComplexMatrix, start: number, adjoint: boolean): void {
  const { re: vr, im: vi, cols: width, rows } = h.in
  const tauIm = adjoint ? -h.im : h.im
  if (h.re === 0 && h.im === 0) return
  for (let c = start; c < m.cols; c++) {
    const head = h.row * m.cols + c
    let [sr, si] = [m.re[head]!, m.im[head]!]
    for (let r = h.row + 1; r < rows; r++) {
      const [v, at] = [r * width + h.col, r * m.cols + c]
      sr += vr[v]! * m.re[at]! + vi[v]! * m.im[at]!
      si += vr[v]! * m.im[at]! - vi[v]! * m.re[at]!
    }
    const tr = h.re * sr - tauIm * si
    const ti = h.re * si + tauIm * sr
    m.re[head]! -= tr
    m.im[head]! -= ti
    for (let r = h.row + 1; r < rows; r++) {
      const [v, at] = [r * width + h.col, r * m.cols + c]
      m.re[at]! -= vr[v]! * tr - vi[v]! * ti
      m.im[at]! -= vr[v]! * ti + vi[v]! * tr
    }
  }
}

/** m = m (I - tau v v^H). */
export function reflectColumns(h: Reflector, m: ComplexMatrix): void {
  const { re: vr, im: vi, cols: width, rows } = h.in
  if (h.re === 0 && h.im === 0) return
  for (let r = 0; r < m.rows; r++) {
    const from = r * m.cols
    let [sr, si] = [m.re[from + h.row]!, m.im[from + h.row]!]
    for (let k = h.row + 1; k < rows; k++) {
      const v = k * width + h.col
      sr += m.re[from + k]! * vr[v]! - m.im[from + k]! * vi[v]!
      si += m.re[from + k]! * vi[v]! + m.im[from + k]! * vr[v]!
    }
    const tr = h.re * sr - h.im * si
    const ti = h.re * si + h.im * sr
    m.re[from + h.row]! -= tr
    m.im[from + h.row]! -= ti
    for (let k = h.row + 1; k < rows; k++) {
      const v = k * width + h.col
      m.re[from + k]! -= tr * vr[v]! + ti * vi[v]!
      m.im[from + k]! -= ti * vr[v]! - tr * vi[v]!
    }
  }
}
