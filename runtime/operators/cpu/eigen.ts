import { check } from '../../error.js'
import { complexOf, type DType, isComplex } from '../../tensor/dtype.js'
import { shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkAnyMatrices, ComplexMatrix, readMatrices, tensorOfMatrices } from './factor/complex-matrix.js'
import { byColumns } from '../support/columns.js'
import { writeOut, writeOuts, type Outs } from '../support/write-out.js'
import { type Schur, schur } from './factor/schur.js'

/** Eigenvalues of square matrices, real or complex, computed in float64. */

function checkInput(operator: string, a: Tensor): void {
  checkAnyMatrices(operator, a)
  const [rows, cols] = a.shape.slice(-2) as [number, number]
  check(rows === cols, () => `${operator}: expected square matrices, found shape ${shapeText(a.shape)}`)
}

function matricesOf(operator: string, a: Tensor): ComplexMatrix[] {
  checkInput(operator, a)
  const matrices = readMatrices(a)
  check(
    matrices.every((m) => m.re.every(Number.isFinite) && m.im.every(Number.isFinite)),
    () => `${operator}: expected finite numbers, found inf or nan`,
  )
  return matrices
}

/** Brings matrices of huge or tiny elements into a range where their squares are numbers, by a power of 2; gives what undoes it. */
function rescale(a: ComplexMatrix): number {
  let most = 0
  for (const part of [a.re, a.im]) for (const x of part) most = Math.max(most, Math.abs(x))
  if (most === 0 || (most > 1e-100 && most < 1e100)) return 1
  const factor = 2 ** Math.round(Math.log2(most) / 2)
  // in two steps, as 1 / most can be too large for a number
  for (const part of [a.re, a.im]) part.forEach((x, i) => (part[i] = x / factor / factor))
  return factor
}

/** Scales rows and columns by powers of 2 so that their norms come near each other (Osborne 1960): D^-1 a D in place; gives D. */
function balance(a: ComplexMatrix): Float64Array {
  const n = a.rows
  const scale = new Float64Array(n).fill(1)
  const size = (i: number): number => Math.abs(a.re[i]!) + Math.abs(a.im[i]!)
  for (let round = 0, changed = true; changed && round < 100; round++) {
    changed = false
    for (let i = 0; i < n; i++) {
      let [row, column] = [0, 0]
      for (let j = 0; j < n; j++) {
        if (j === i) continue
        row += size(i * n + j)
        column += size(j * n + i)
      }
      if (!(row > 0 && column > 0 && row < Infinity && column < Infinity)) continue
      const factor = 2 ** Math.round(Math.log2(row / column) / 2)
      if (!(column * factor + row / factor < 0.95 * (row + column))) continue
      changed = true
      scale[i]! *= factor
      for (const part of [a.re, a.im]) {
        for (let j = 0; j < n; j++) {
          part[i * n + j]! /= factor
          part[j * n + i]! *= factor
        }
      }
    }
  }
  return scale
}

/** y with T y = t[k][k] y and y[k] = 1, by substitution; divisors that are nearly 0 are replaced by `least`. */
function triangularVector(t: ComplexMatrix, k: number, least: number): ComplexMatrix {
  const n = t.rows
  const y = new ComplexMatrix(n, 1)
  y.re[k] = 1
  for (let i = k - 1; i >= 0; i--) {
    let [sr, si] = [0, 0]
    for (let j = i + 1; j <= k; j++) {
      const at = i * n + j
      sr -= t.re[at]! * y.re[j]! - t.im[at]! * y.im[j]!
      si -= t.re[at]! * y.im[j]! + t.im[at]! * y.re[j]!
    }
    let [dr, di] = [t.re[i * n + i]! - t.re[k * n + k]!, t.im[i * n + i]! - t.im[k * n + k]!]
    if (Math.abs(dr) + Math.abs(di) < least) [dr, di] = [least, 0]
    const size = Math.hypot(dr, di)
    const [ur, ui] = [dr / size, di / size]
    y.re[i] = (sr * ur + si * ui) / size
    y.im[i] = (si * ur - sr * ui) / size
    const grown = Math.hypot(y.re[i]!, y.im[i]!)
    // growth is taken off before it can overflow
    if (grown > 1e100) for (const part of [y.re, y.im]) for (let j = i; j <= k; j++) part[j]! /= grown
  }
  return y
}

/** Puts D z y of norm 1 into column k, turned so that its largest element is real, as LAPACK's geev does. */
function putVector(vectors: ComplexMatrix, k: number, z: ComplexMatrix, y: ComplexMatrix, scale: Float64Array, isReal: boolean): void {
  const n = z.rows
  const x = new ComplexMatrix(n, 1)
  let [most, largest, re, im] = [0, 0, 1, 0]
  for (let r = 0; r < n; r++) {
    for (let j = 0; j <= k; j++) {
      const at = r * n + j
      x.re[r]! += z.re[at]! * y.re[j]! - z.im[at]! * y.im[j]!
      x.im[r]! += z.re[at]! * y.im[j]! + z.im[at]! * y.re[j]!
    }
    x.re[r]! *= scale[r]!
    x.im[r]! *= scale[r]!
    const size = Math.hypot(x.re[r]!, x.im[r]!)
    if (size > most) [most, largest, re, im] = [size, r, x.re[r]! / size, x.im[r]! / size]
  }
  // real vectors keep their sign; what they have of imaginary parts comes from replaced divisors
  if (isReal && re < 0) [re, im] = [-re, -im]
  let norm = 0
  for (let r = 0; r < n; r++) {
    const [p, q] = [x.re[r]!, x.im[r]!]
    x.re[r] = p * re + q * im
    x.im[r] = isReal || r === largest ? 0 : q * re - p * im
    norm = Math.hypot(norm, x.re[r]!, x.im[r]!)
  }
  for (let r = 0; r < n; r++) {
    vectors.re[r * n + k] = x.re[r]! / norm
    vectors.im[r * n + k] = x.im[r]! / norm
  }
}

function eigenvectors({ t, z }: Schur, scale: Float64Array, isReal: boolean): ComplexMatrix {
  const n = t.rows
  let norm = 0
  for (let i = 0; i < n * n; i++) norm = Math.max(norm, Math.abs(t.re[i]!) + Math.abs(t.im[i]!))
  const least = Math.max(2 ** -52 * norm, Number.MIN_VALUE * 2 ** 52)
  const vectors = new ComplexMatrix(n, n)
  for (let k = 0; k < n; k++) {
    const isPair = isReal && t.im[k * n + k] !== 0
    putVector(vectors, k, z!, triangularVector(t, k, least), scale, isReal && !isPair)
    if (!isPair) continue
    // the conjugate eigenvalue has the conjugate vector
    for (let r = 0; r < n; r++) {
      vectors.re[r * n + k + 1] = vectors.re[r * n + k]!
      vectors.im[r * n + k + 1] = -vectors.im[r * n + k]!
    }
    k++
  }
  return vectors
}

function eigenvalues({ t: { rows: n, re, im } }: Schur, factor: number): ComplexMatrix {
  const values = new ComplexMatrix(1, n)
  for (let k = 0; k < n; k++) {
    values.re[k] = re[k * (n + 1)]! * factor * factor
    values.im[k] = im[k * (n + 1)]! * factor * factor
  }
  return values
}

const resultType = (a: Tensor): DType => complexOf(a.type)

/**
 * Eigenvalues and, as columns, eigenvectors of norm 1 whose largest elements are real (torch.linalg.eig), complex. Pairs of a real matrix stand
 * next to each other, the one with the positive imaginary part first; there is no order otherwise.
 */
export function linalg_eig(self: Tensor, ...outs: Outs): [Tensor, Tensor] {
  const isReal = !isComplex(self.type)
  const pairs = matricesOf('linalg_eig', self).map((a) => {
    const factor = rescale(a)
    const scale = balance(a)
    const form = schur(a, isReal, true)
    return [eigenvalues(form, factor), eigenvectors(form, scale, isReal)] as const
  })
  const type = resultType(self)
  const values = tensorOfMatrices(pairs.map(([v]) => v), self.shape.slice(0, -1), type) // prettier-ignore
  const vectors = tensorOfMatrices(pairs.map(([, v]) => v), self.shape, type) // prettier-ignore
  return writeOuts([values, byColumns(vectors)], outs)
}

/** The eigenvalues alone (torch.linalg.eigvals). */
export function linalg_eigvals(self: Tensor, out?: Tensor): Tensor {
  const isReal = !isComplex(self.type)
  const values = matricesOf('linalg_eigvals', self).map((a) => {
    const factor = rescale(a)
    balance(a)
    return eigenvalues(schur(a, isReal, false), factor)
  })
  return writeOut(tensorOfMatrices(values, self.shape.slice(0, -1), resultType(self)), out)
}
