import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { arrayTypeOf, writeTensor } from '../../tensor/data.js'
import { DType, isComplex, realOf } from '../../tensor/dtype.js'
import { broadcastShapes, numelOf, sameShape, wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { narrow } from '../../tensor/view.js'
import { byColumns } from '../support/columns.js'
import { castTo, contiguousCopy, contiguousOf, copyInto } from '../support/copy.js'
import { writeOut, writeOutsExact } from '../support/write-out.js'
import { computeType, dense } from '../support/real.js'
import { checkProductType, checkSameType } from '../support/product.js'
import { mul_out, sub_out } from './binary.js'
import { checkPrecise } from './factor/complex-matrix.js'
import { _conj_physical } from './float-parts.js'
import type { CPU } from '../support/generated/interfaces.js'

const text = (t: Tensor): string => `[${t.shape.join(', ')}]`

/** Throws unless `a` holds square matrices of single or double precision, real or complex; gives their size. */
export function checkSquare(operator: string, a: Tensor): number {
  checkPrecise(operator, a)
  const n = a.shape[a.dim - 1]
  check(a.dim >= 2 && a.shape[a.dim - 2] === n, () => `${operator}: expected square matrices, found shape ${text(a)}`)
  return n!
}

const batchOf = (t: Tensor): readonly number[] => t.shape.slice(0, -2)

/** Matrices with rows and columns exchanged. */
function transposed(t: Tensor): Tensor {
  const swap = (values: readonly number[]): number[] => [...values.slice(0, -2), values[t.dim - 1]!, values[t.dim - 2]!]
  return viewOf(t, swap(t.shape), swap(t.strides))
}

/** The same with the conjugates of complex elements. */
export function adjoint(t: Tensor): Tensor {
  return isComplex(t.type) ? _conj_physical(transposed(t)) : transposed(t)
}

function expanded(t: Tensor, shape: readonly number[]): Tensor {
  if (sameShape(t.shape, shape)) return t
  const lead = shape.length - t.dim
  return viewOf(
    t,
    shape,
    shape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!)),
  )
}

/** Identity matrices of this shape. */
export function identity(shape: readonly number[], type: DType): Tensor {
  const n = shape[shape.length - 1]!
  const real = realOf(type)
  const t = empty(shape, real)
  const data = new (arrayTypeOf(real))(numelOf(shape)) as Float32Array
  for (let i = 0; i < data.length; i += n * n) for (let d = 0; d < n; d++) data[i + d * (n + 1)] = 1
  writeTensor(t, data)
  return castTo(t, type)
}

/** Solves a x = b for contiguous copies of the matrices; gives x. */
function solve(a: Tensor, b: Tensor): Tensor {
  const n = a.shape[a.dim - 1]!
  const x = contiguousCopy(b)
  const factors = contiguousCopy(a)
  if (x.numel > 0) {
    kernels.linalg_solve({ element: a.type, batch: numelOf(batchOf(a)), n, columns: b.shape[b.dim - 1]!, a: factors.address, b: x.address })
  }
  return x
}

/** torch.linalg.inv. Throws INVALID_ARGUMENT for singular matrices. */
export function linalg_inv(a: Tensor, out?: Tensor): Tensor {
  checkSquare('linalg_inv', a)
  return writeOut(byColumns(solve(a, identity(a.shape, a.type))), out)
}

/** torch.linalg.solve: x with a x = b, or x a = b where `left` is false. b may hold vectors. */
export function linalg_solve(a: Tensor, b: Tensor, left: boolean, out?: Tensor): Tensor {
  const operator = 'linalg_solve'
  const n = checkSquare(operator, a)
  checkSameType(operator, a, b)
  const vector = b.dim === 1 || (b.dim === a.dim - 1 && sameShape(b.shape, a.shape.slice(0, -1)))
  check(left || !vector, () => `${operator}: vectors can only stand on the left`)
  const columns = vector ? viewOf(b, [...b.shape, 1], [...b.strides, 0]) : b
  check(columns.dim >= 2, () => `${operator}: expected b with 1 or more dimensions`)
  const right = left ? columns : transposed(columns)
  const matrix = left ? a : transposed(a)
  check(right.shape[right.dim - 2] === n, () => `${operator}: shapes ${text(a)} and ${text(b)} do not fit together`)
  const batch = broadcastShapes(batchOf(matrix), batchOf(right))
  const x = solve(expanded(matrix, [...batch, n, n]), expanded(right, [...batch, n, right.shape[right.dim - 1]!]))
  if (vector) return writeOut(viewOf(x, x.shape.slice(0, -1), x.strides.slice(0, -1)), out)
  return writeOut(left ? byColumns(x) : contiguousOf(transposed(x)), out)
}

/** Cholesky factor: lower triangular, or upper. Throws INVALID_ARGUMENT unless positive definite. */
export function linalg_cholesky(self: Tensor, upper: boolean, out?: Tensor): Tensor {
  const n = checkSquare('linalg_cholesky', self)
  const factor = contiguousCopy(self)
  if (factor.numel > 0) {
    kernels.linalg_cholesky({ element: self.type, upper: upper ? 1 : 0, batch: numelOf(batchOf(self)), n, a: factor.address })
  }
  return writeOut(byColumns(factor), out)
}

/** torch.cholesky, the older name. */
export const cholesky = linalg_cholesky

function determinants(operator: string, a: Tensor): { det: Tensor; sign: Tensor; logabs: Tensor } {
  const n = checkSquare(operator, a)
  const batch = batchOf(a)
  const det = empty(batch, a.type)
  const sign = empty(batch, a.type)
  const logabs = empty(batch, realOf(a.type))
  const factors = contiguousCopy(a)
  if (det.numel > 0) {
    kernels.linalg_slogdet({
      element: a.type,
      batch: det.numel,
      n,
      a: factors.address,
      det: det.address,
      sign: sign.address,
      logabs: logabs.address,
    })
  }
  return { det, sign, logabs }
}

/** Determinants of square matrices. */
export function linalg_det(a: Tensor, out?: Tensor): Tensor {
  return writeOut(determinants('linalg_det', a).det, out)
}

/** Signs of the determinants and logarithms of their absolute values. */
export function linalg_slogdet(a: Tensor, outSign?: Tensor, outLogabs?: Tensor): [Tensor, Tensor] {
  const { sign, logabs } = determinants('linalg_slogdet', a)
  return [writeOut(sign, outSign), writeOut(logabs, outLogabs)]
}

function solveTriangular(operator: string, a: Tensor, b: Tensor, upper: boolean, unit: boolean): Tensor {
  const n = checkSquare(operator, a)
  checkSameType(operator, a, b)
  check(b.dim >= 2 && b.shape[b.dim - 2] === n, () => `${operator}: shapes ${text(a)} and ${text(b)} do not fit together`)
  const batch = broadcastShapes(batchOf(a), batchOf(b))
  const columns = b.shape[b.dim - 1]!
  const matrix = contiguousOf(expanded(a, [...batch, n, n]))
  const x = contiguousCopy(expanded(b, [...batch, n, columns]))
  if (x.numel > 0) {
    kernels.linalg_triangular_solve({
      element: a.type,
      upper: upper ? 1 : 0,
      unit: unit ? 1 : 0,
      batch: numelOf(batch),
      n,
      columns,
      a: matrix.address,
      b: x.address,
    })
  }
  return x
}

/** x with self x = b, or x self = b where `left` is false, for triangular self. */
export const linalg_solve_triangular: CPU['linalg_solve_triangular'] = (self, b, upper, left, unitriangular, out) => {
  const operator = 'linalg_solve_triangular'
  check(self.dim >= 2 && b.dim >= 2, () => `${operator}: expected matrices, found shapes ${text(self)} and ${text(b)}`)
  if (left) return writeOut(byColumns(solveTriangular(operator, self, b, upper, unitriangular)), out)
  return writeOut(transposed(solveTriangular(operator, transposed(self), transposed(b), !upper, unitriangular)), out)
}

/** x with a x = self (a transposed where asked), and a copy of a. */
export const triangular_solve: CPU['triangular_solve'] = (self, a, upper, transpose, unitriangular, ...outs) => {
  check(self.dim >= 2 && a.dim >= 2, () => `triangular_solve: expected matrices, found shapes ${text(self)} and ${text(a)}`)
  const x = solveTriangular('triangular_solve', transpose ? transposed(a) : a, self, upper !== transpose, unitriangular)
  return writeOutsExact([byColumns(x), byColumns(contiguousCopy(a))], outs, 'triangular_solve')
}

/** x with a x = self, where input2 is the Cholesky factor of a. */
export function cholesky_solve(self: Tensor, input2: Tensor, upper: boolean, out?: Tensor): Tensor {
  const lower = upper ? adjoint(input2) : input2
  const half = solveTriangular('cholesky_solve', lower, self, false, false)
  return writeOut(byColumns(solveTriangular('cholesky_solve', adjoint(lower), half, true, false)), out)
}

/** The name that PyTorch gives its part for matrices of one batch shape. */
export const _cholesky_solve_helper = cholesky_solve

/** The inverse of the matrix whose Cholesky factor is self. */
export function cholesky_inverse(self: Tensor, upper: boolean, out?: Tensor): Tensor {
  checkSquare('cholesky_inverse', self)
  return cholesky_solve(identity(self.shape, self.type), self, upper, out)
}

/** Cross products of vectors of size 3 along `dim`. */
export function linalg_cross(self: Tensor, other: Tensor, dim: number, out?: Tensor): Tensor {
  const operator = 'linalg_cross'
  check(
    self.dim === other.dim,
    () => `${operator}: expected tensors of the same number of dimensions, found shapes ${text(self)} and ${text(other)}`,
  )
  checkSameType(operator, self, other)
  if (!isComplex(self.type)) checkProductType(operator, self.type)
  const at = wrapDim(dim, self.dim)
  check(
    self.shape[at] === 3 && other.shape[at] === 3,
    () => `${operator}: expected size 3 in dimension ${dim}, found shapes ${text(self)} and ${text(other)}`,
  )
  const shape = broadcastShapes(self.shape, other.shape)
  if (isComplex(self.type)) return writeOut(complexCross(expanded(self, shape), expanded(other, shape), at), out)
  const inner = computeType(self.type)
  const result = empty(shape, inner)
  const a = dense(expanded(self, shape), inner)
  const b = dense(expanded(other, shape), inner)
  const outer = numelOf(shape.slice(0, at))
  const across = numelOf(shape.slice(at + 1))
  kernels.cross({ dtype: inner, outer, inner: across, a: a.address, b: b.address, output: result.address })
  return writeOut(castTo(result, self.type), out)
}

/** a2 b3 - a3 b2 and so on, for a first, second and third part along `dim`. */
function complexCross(a: Tensor, b: Tensor, dim: number): Tensor {
  const result = empty(a.shape, a.type)
  for (let k = 0; k < 3; k++) {
    const [i, j] = [(k + 1) % 3, (k + 2) % 3]
    const part = (t: Tensor, index: number): Tensor => narrow(t, dim, index, 1)
    const difference = sub_out(mul_out(part(a, i), part(b, j)), mul_out(part(a, j), part(b, i)), 1)
    copyInto(part(result, k), difference)
  }
  return result
}

/** torch.cross: without `dim`, along the first dimension of size 3. */
export function cross(self: Tensor, other: Tensor, dim: number | null, out?: Tensor): Tensor {
  if (dim !== null) return linalg_cross(self, other, dim, out)
  const first = self.shape.indexOf(3)
  check(first >= 0, () => `cross: expected a dimension of size 3, found shape ${text(self)}`)
  return linalg_cross(self, other, first, out)
}

/** Distances of order p between the rows of x1 [..., m, d] and those of x2 [..., n, d]. */
export function cdist(x1: Tensor, x2: Tensor, p: number, computeMode: number | null): Tensor {
  const operator = 'cdist'
  check(
    x1.dim >= 2 && x2.dim >= 2,
    () => `${operator}: expected tensors with 2 or more dimensions, found shapes ${text(x1)} and ${text(x2)}`,
  )
  check(
    x1.shape[x1.dim - 1] === x2.shape[x2.dim - 1],
    () => `${operator}: expected rows of the same size, found shapes ${text(x1)} and ${text(x2)}`,
  )
  check(p >= 0, () => `${operator}: expected an order of 0 or more, found ${p}`)
  check(
    computeMode === null || (computeMode >= 0 && computeMode <= 2),
    () => `${operator}: expected compute_mode 0, 1 or 2, found ${String(computeMode)}`,
  )
  checkSameType(operator, x1, x2)
  if (x1.type !== DType.float32 && x1.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected float32 or float64 tensors, found ${x1.dtype}`)
  }
  const batch = broadcastShapes(batchOf(x1), batchOf(x2))
  const m = x1.shape[x1.dim - 2]!
  const n = x2.shape[x2.dim - 2]!
  const size = x1.shape[x1.dim - 1]!
  const result = empty([...batch, m, n], x1.type)
  const a = contiguousOf(expanded(x1, [...batch, m, size]))
  const b = contiguousOf(expanded(x2, [...batch, n, size]))
  if (result.numel > 0) {
    kernels.cdist({ dtype: x1.type, batch: numelOf(batch), m, n, size, order: p, a: a.address, b: b.address, output: result.address })
  }
  return result
}

export const _cdist_forward = cdist
