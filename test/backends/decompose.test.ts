import t from 'tap'
import { callOperator, type Input, type Tensor, tensor } from '../../src/index.js'
import { count, Random } from './support/random.js'

/** Vectors of these decompositions are unique up to their signs only, so that the properties are tested that define them. */

const random = new Random(1)
const run = (op: string, ...args: Input[]) => callOperator(`aten::${op}`, args)
const one = (op: string, ...args: Input[]): Tensor => run(op, ...args) as Tensor
const transposed = (x: Tensor): Tensor => one('transpose.int', x, -2, -1)

function largestDifference(a: Tensor, b: Tensor): number {
  return Number(one('max', one('abs', one('sub.Tensor', a, b))).item())
}

function identity(n: number): Tensor {
  return one('eye', n, 'float64')
}

const shapes = [[1, 1], [4, 4], [7, 3], [3, 7], [2, 5, 4], [20, 12]] // prettier-ignore

t.test('singular value decompositions give the matrix back', (t) => {
  for (const shape of shapes) {
    const a = tensor(random.data(count(shape)), shape, 'float64')
    for (const full of [true, false]) {
      const [u, s, vh] = run('linalg_svd', a, full) as [Tensor, Tensor, Tensor]
      const [rows, cols] = shape.slice(-2) as [number, number]
      const least = Math.min(rows, cols)
      t.same(u.shape.slice(-2), [rows, full ? rows : least])
      t.same(vh.shape.slice(-2), [full ? cols : least, cols])
      const columns = one('slice.Tensor', u, -1, 0, least)
      const product = one('matmul', one('mul.Tensor', columns, one('unsqueeze', s, -2)), one('slice.Tensor', vh, -2, 0, least))
      t.ok(largestDifference(product, a) < 1e-12, `${shape.join()} ${full}`)
      t.ok(largestDifference(one('matmul', transposed(u), u), identity(u.shape.at(-1)!)) < 1e-12, 'u is orthonormal')
      t.ok(largestDifference(one('matmul', vh, transposed(vh)), identity(vh.shape.at(-2)!)) < 1e-12, 'v is orthonormal')
    }
  }
  t.end()
})

t.test('matrices without full rank have orthonormal vectors too', (t) => {
  for (const rows of [
    [
      [1, 2],
      [2, 4],
      [3, 6],
    ],
    [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  ]) /* prettier-ignore */ {
    const [u, s] = run('linalg_svd', tensor(rows, [3, 2], 'float64'), true) as [Tensor, Tensor]
    t.ok(largestDifference(one('matmul', transposed(u), u), identity(3)) < 1e-12)
    t.ok((s.data() as Float64Array)[1]! < 1e-12)
  }
  t.end()
})

t.test('eigenvectors of symmetric matrices', (t) => {
  for (const n of [1, 3, 6, 16]) {
    const x = tensor(random.data(n * n), [n, n], 'float64')
    const a = one('add.Tensor', x, transposed(x))
    for (const uplo of ['L', 'U']) {
      const [values, vectors] = run('linalg_eigh', a, uplo) as [Tensor, Tensor]
      t.ok(largestDifference(one('matmul', a, vectors), one('mul.Tensor', vectors, values)) < 1e-11, `${n} ${uplo}`)
      t.ok(largestDifference(one('matmul', transposed(vectors), vectors), identity(n)) < 1e-12)
      const sorted = [...(values.data() as Float64Array)]
      t.same(sorted, sorted.slice().sort((p, q) => p - q)) // prettier-ignore
    }
  }
  t.end()
})

t.test('not a number ends', (t) => {
  const nan = tensor([NaN, 1, 1, Infinity], [2, 2])
  for (const op of ['linalg_svdvals', 'linalg_eigvalsh', 'linalg_qr', 'linalg_lu_factor_ex']) t.doesNotThrow(() => run(op, nan))
  for (const op of ['linalg_svd', 'linalg_eigh', 'linalg_qr', 'linalg_lu_factor', 'linalg_matrix_exp']) {
    t.throws(() => run(op, tensor([1, 2])), { name: 'PtliteError' })
    t.throws(() => run(op, tensor([[1]], [1, 1], 'int64')), { code: 'INVALID_DTYPE' }, op)
  }
  t.end()
})
