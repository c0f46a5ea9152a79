import { check } from '../../error.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { unsqueeze } from '../../tensor/view.js'
import { checkAnyMatrices, ComplexMatrix, readMatrices, tensorOfMatrices } from './factor/complex-matrix.js'
import { byColumns } from '../support/columns.js'
import { writeOut, writeOuts, writeOutExact, type Outs } from '../support/write-out.js'
import { checkSameType } from '../support/product.js'
import { makeReflector, type Reflector, reflectRows } from './factor/reflector.js'

/** QR decompositions as LAPACK's geqrf leaves them: R, and the reflectors that Q is the product of. Real and complex, computed in float64. */

/** R in and above the diagonal, the reflectors below it, and their factors tau. */
export function geqrf(self: Tensor, ...outs: Outs): [Tensor, Tensor] {
  checkAnyMatrices('geqrf', self)
  const [rows, cols] = self.shape.slice(-2) as [number, number]
  const steps = Math.min(rows, cols)
  const matrices = readMatrices(self)
  const factors = matrices.map((a) => {
    const tau = new ComplexMatrix(1, steps)
    for (let k = 0; k < steps; k++) {
      const h = makeReflector(a, k, k)
      reflectRows(h, a, k + 1, true)
      tau.re[k] = h.re
      tau.im[k] = h.im
    }
    return tau
  })
  const batch = self.shape.slice(0, -2)
  return writeOuts(
    [byColumns(tensorOfMatrices(matrices, self.shape, self.type)), tensorOfMatrices(factors, [...batch, steps], self.type)],
    outs,
  )
}

function checkReflectors(operator: string, a: Tensor, tau: Tensor): void {
  checkAnyMatrices(operator, a)
  checkSameType(operator, a, tau)
  check(
    tau.dim === a.dim - 1 && sameShape(tau.shape.slice(0, -1), a.shape.slice(0, -2)) && tau.shape[tau.dim - 1]! <= a.shape[a.dim - 1]!,
    () => `${operator}: factors of shape ${shapeText(tau.shape)} do not fit reflectors of shape ${shapeText(a.shape)}`,
  )
}

/** The reflectors in the columns of `a`, in their order. */
function reflectorsOf(a: ComplexMatrix, tau: ComplexMatrix): Reflector[] {
  return Array.from(tau.re, (re, k) => ({ in: a, row: k, col: k, re, im: tau.im[k]! }))
}

/** The first columns of the product of the reflectors that `input` [..., m, n], m >= n, holds as geqrf leaves them. */
export function linalg_householder_product(input: Tensor, tau: Tensor, out?: Tensor): Tensor {
  const operator = 'linalg_householder_product'
  checkReflectors(operator, input, tau)
  const [rows, cols] = input.shape.slice(-2) as [number, number]
  check(rows >= cols, () => `${operator}: expected at least as many rows as columns, found shape ${shapeText(input.shape)}`)
  const factors = readMatrices(unsqueeze(tau, -2))
  const products = readMatrices(input).map((a, b) => {
    const q = ComplexMatrix.identity(rows, cols)
    for (const h of reflectorsOf(a, factors[b]!).reverse()) reflectRows(h, q, 0, false)
    return q
  })
  return writeOut(byColumns(tensorOfMatrices(products, input.shape, input.type)), out)
}

export { linalg_householder_product as orgqr }

/** Q other, or other Q unless `left`, of the product Q of reflectors; its adjoint where `transpose`. */
export function ormqr(self: Tensor, tau: Tensor, other: Tensor, left: boolean, transpose: boolean, out?: Tensor): Tensor {
  checkReflectors('ormqr', self, tau)
  checkAnyMatrices('ormqr', other)
  checkSameType('ormqr', self, other)
  const rows = self.shape[self.dim - 2]!
  check(
    other.dim === self.dim &&
      sameShape(other.shape.slice(0, -2), self.shape.slice(0, -2)) &&
      other.shape[other.dim - (left ? 2 : 1)] === rows &&
      tau.shape[tau.dim - 1]! <= rows,
    () => `ormqr: matrices of shape ${shapeText(other.shape)} do not fit reflectors of shape ${shapeText(self.shape)}`,
  )
  const factors = readMatrices(unsqueeze(tau, -2))
  const others = readMatrices(other)
  const products = readMatrices(self).map((a, b) => {
    // other Q is the adjoint of Q^H other^H
    const m = left ? others[b]! : others[b]!.adjoint()
    const adjoint = left === transpose
    const list = reflectorsOf(a, factors[b]!)
    for (const h of adjoint ? list : list.reverse()) reflectRows(h, m, 0, adjoint)
    return left ? m : m.adjoint()
  })
  return writeOutExact(byColumns(tensorOfMatrices(products, other.shape, other.type)), out, 'ormqr')
}
