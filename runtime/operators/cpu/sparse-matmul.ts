import { check } from '../../error.js'
import { readTensor, writeTensor, arrayTypeOf } from '../../tensor/data.js'
import { type DType, isComplex } from '../../tensor/dtype.js'
import { readInts, tensorOfInts } from '../../tensor/host-values.js'
import { type AnyScalar, Complex, scalarToNumber } from '../../tensor/scalar.js'
import { contiguousStrides, numelOf } from '../../tensor/shape.js'
import { SparseTensor } from '../../tensor/sparse.js'
import { narrow, select, transpose, unsqueeze } from '../../tensor/view.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { zerosOf } from '../support/make.js'
import { checkInner, shapeText } from '../support/matmul.js'
import { checkSameType } from '../support/product.js'
import { add_out, mul_out } from './binary.js'
import { index_select } from './masked-select.js'
import { index_add, index_reduce } from './scatter.js'

/** Products of matrices of which one is sparse. What every value contributes to its row is computed and added, in the order of the values. */

/** Elements of products that are kept at a time. */
const PART = 2 ** 22

/** The row and column of each value of a sparse matrix. */
function placesOf(operator: string, a: SparseTensor): readonly [rows: Tensor, columns: Tensor] {
  check(
    a.dim === 2 && a.values.dim === 1,
    () => `${operator}: expected a sparse matrix without dense dimensions, found shape ${shapeText(a)}`,
  )
  return [select(a.indices, 0, 0), select(a.indices, 0, 1)]
}

/** Calls `f` with the rows, and the rows of b times the values, of as many values at a time as fit. */
function products(operator: string, a: SparseTensor, b: Tensor, f: (rows: Tensor, terms: Tensor) => void): void {
  const [rows, columns] = placesOf(operator, a)
  const step = Math.max(1, Math.floor(PART / Math.max(1, b.shape[1]!)))
  for (let from = 0; from < a.count; from += step) {
    const part = (t: Tensor): Tensor => narrow(t, 0, from, Math.min(step, a.count - from))
    f(part(rows), mul_out(index_select(b, 0, part(columns)), unsqueeze(part(a.values), 1)))
  }
}

function check2d(operator: string, a: Tensor, b: Tensor): void {
  check(a.dim === 2 && b.dim === 2, () => `${operator}: expected matrices, found shapes ${shapeText(a)} and ${shapeText(b)}`)
  checkInner(operator, a, b, a.shape[1] === b.shape[0])
  checkSameType(operator, a, b)
}

/** The product of two matrices, one of which is sparse, or both: then it is sparse, too. */
export function sparseProduct(operator: string, a: Tensor, b: Tensor): Tensor {
  check2d(operator, a, b)
  if (!(a instanceof SparseTensor)) {
    check(b instanceof SparseTensor, () => `${operator}: expected a sparse matrix, found two dense ones`)
    return transpose(sparseProduct(operator, b.transposed(), transpose(a, 0, 1)), 0, 1)
  }
  if (b instanceof SparseTensor) return sparseBySparse(operator, a, b)
  const result = zerosOf([a.shape[0]!, b.shape[1]!], a.type)
  products(operator, a, b, (rows, terms) => index_add(result, 0, rows, terms, 1, result))
  return result
}

/** Row by row (Gustavson), with a value wherever two values meet. */
function sparseBySparse(operator: string, a: SparseTensor, b: SparseTensor): SparseTensor {
  check(!isComplex(a.type), () => `${operator}: products of two complex sparse matrices are not supported`)
  const [[rows, inner], [others, columns]] = [placesOf(operator, a), placesOf(operator, b)].map(([r, c]) => [readInts(r), readInts(c)]) as [
    [number[], number[]],
    [number[], number[]],
  ]
  const [x, y] = [a, b].map((t) => Array.from(readTensor(t.values), Number)) as [number[], number[]]
  const ofRow = new Map<number, number[]>()
  others.forEach((row, i) => ofRow.set(row, [...(ofRow.get(row) ?? []), i]))
  const width = b.shape[1]!
  const sums = new Map<number, number>()
  rows.forEach((row, i) => {
    for (const j of ofRow.get(inner[i]!) ?? []) {
      const place = row * width + columns[j]!
      sums.set(place, (sums.get(place) ?? 0) + x[i]! * y[j]!)
    }
  })
  const order = [...sums.keys()].sort((p, q) => p - q)
  const indices = tensorOfInts([...order.map((p) => Math.floor(p / width)), ...order.map((p) => p % width)], [2, order.length])
  return new SparseTensor(indices, tensorOf(order.map((p) => sums.get(p)!), a.type), [a.shape[0]!, width], true) // prettier-ignore
}

function tensorOf(numbers: readonly number[], type: DType): Tensor {
  const t = empty([numbers.length], type)
  const data = new (arrayTypeOf(type))(numbers.length)
  numbers.forEach((n, i) => (data[i] = data instanceof BigInt64Array ? BigInt(Math.trunc(n)) : n))
  writeTensor(t, data)
  return t
}

/** beta * self + alpha * a b, where a or b is sparse. */
export function sparseSum(operator: string, self: Tensor, a: Tensor, b: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  const product = sparseProduct(operator, a, b)
  check(!product.isSparse && !self.isSparse, () => `${operator}: expected a dense tensor to add to, and one dense factor`)
  const isZero = !(beta instanceof Complex) && scalarToNumber(beta) === 0
  return isZero ? writeOut(mul_out(product, alpha), out) : writeOut(add_out(mul_out(self, beta), product, alpha), out)
}

/** torch.matmul of a sparse matrix and a matrix or vector, or the other way round. */
export function sparseMatmul(operator: string, a: Tensor, b: Tensor): Tensor {
  if (b.dim === 1) return select(sparseProduct(operator, a, unsqueeze(b, 1)), 1, 0)
  return a.dim === 1 ? select(sparseProduct(operator, unsqueeze(a, 0), b), 0, 0) : sparseProduct(operator, a, b)
}

/** x weight^T + bias over the last dimension. */
export function sparseLinear(input: Tensor, weight: SparseTensor, bias: Tensor | null): Tensor {
  check(input.dim > 0, () => 'linear: expected an input with 1 or more dimensions')
  const k = input.shape[input.dim - 1]!
  const lead = input.shape.slice(0, -1)
  const rows = viewOf(contiguousOf(input), [numelOf(lead), k], [k, 1])
  const result = contiguousOf(transpose(sparseProduct('linear', weight, transpose(rows, 0, 1)), 0, 1))
  const shape = [...lead, weight.shape[0]!]
  const full = viewOf(result, shape, contiguousStrides(shape))
  return bias === null ? full : add_out(full, bias, 1)
}

export function _sparse_mm(a: Tensor, b: Tensor): Tensor {
  return sparseProduct('_sparse_mm', a, b)
}

/** As a product, but for what becomes of the terms of each element: their `reduce` sum, mean, amax or amin; 0 where there are none. */
export function _sparse_mm_reduce(a: Tensor, b: Tensor, reduce: string): Tensor {
  check(a instanceof SparseTensor && !b.isSparse, () => '_sparse_mm: expected a sparse matrix and a dense one')
  check2d('_sparse_mm', a, b)
  if (reduce === 'sum') return sparseProduct('_sparse_mm', a, b)
  const result = zerosOf([a.shape[0]!, b.shape[1]!], a.type)
  const [rows, columns] = placesOf('_sparse_mm', a as SparseTensor)
  const terms = mul_out(index_select(b, 0, columns), unsqueeze((a as SparseTensor).values, 1))
  return index_reduce(result, 0, rows, terms, reduce, false, result)
}

export function _sparse_addmm(self: Tensor, a: Tensor, b: Tensor, beta: AnyScalar, alpha: AnyScalar): Tensor {
  return sparseSum('_sparse_addmm', self, a, b, beta, alpha)
}
