import t from 'tap'
import { callOperator, float, int, Tensor, tensor } from '../../src/index.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { atEveryLevel } from '../support/again.js'
import { distance, Random, real } from './support/random.js'

const random = new Random(1)

function multiply(a: Float64Array, b: Float64Array, m: number, n: number, k: number): Float64Array {
  const c = new Float64Array(m * n)
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) for (let p = 0; p < k; p++) c[i * n + j]! += a[i * k + p]! * b[p * n + j]!
  return c
}

/** The same matrix with its columns in memory one after the other. */
function columnMajor(values: Float64Array, rows: number, cols: number, dtype: 'float32' | 'float64'): Tensor {
  const turned = Float64Array.from(values, (_, i) => values[(i % rows) * cols + Math.floor(i / rows)]!)
  return Tensor.fromStorage(dtype === 'float32' ? Float32Array.from(turned) : turned, { dtype, shape: [rows, cols], strides: [1, rows] })
}

// sizes around the register tiles of all levels, and deeper than one block of k
const SIZES = [1, 2, 3, 4, 5, 7, 14, 15, 33, 70]
const DEPTHS = [1, 2, 15, 16, 17, 64, 400, 801]

t.test('products of any size and layout', (t) => {
  for (let round = 0; round < 80; round++) {
    const m = random.pick(SIZES)
    const n = random.pick(SIZES)
    const k = random.pick(DEPTHS)
    const dtype = random.pick(['float32', 'float64'] as const)
    const a = random.data(m * k)
    const b = random.data(k * n)
    const self = random.pick([0, 1]) === 0 ? real(a, [m, k], dtype) : columnMajor(a, m, k, dtype)
    const other = random.pick([0, 1]) === 0 ? real(b, [k, n], dtype) : columnMajor(b, k, n, dtype)
    const expected = multiply(a, b, m, n, k)
    const name = `${m} x ${k} x ${n} ${dtype}`
    t.ok(distance(callOperator('aten::mm', [self, other]) as Tensor, expected, k) < 1, name)
    const bias = random.data(n)
    const sum = callOperator('aten::addmm', [real(bias, [n], dtype), self, other, float(0.5), float(2)]) as Tensor
    const affine = expected.map((v, i) => 2 * v + 0.5 * bias[i % n]!)
    t.ok(distance(sum, affine, k) < 2, `addmm ${name}`)
  }
  t.end()
})

t.test('linear gives the same before and after its weight is packed', (t) => {
  for (const [m, n, k] of [
    [1, 16, 16],
    [1, 150, 40],
    [3, 33, 500],
    [20, 17, 9],
  ] as const) {
    const [x, w, b] = [random.data(m * k), random.data(n * k), random.data(n)]
    const weight = real(w, [n, k], 'float32')
    const turned = Float64Array.from({ length: k * n }, (_, i) => w[(i % n) * k + Math.floor(i / n)]!)
    const expected = multiply(x, turned, m, n, k).map((v, i) => v + b[i % n]!)
    for (let use = 0; use < 3; use++) {
      const y = callOperator('aten::linear', [real(x, [m, k], 'float32'), weight, real(b, [n], 'float32')]) as Tensor
      t.ok(distance(y, expected, k) < 2, `${m} x ${k} x ${n}, use ${use}`)
    }
    callOperator('aten::zero_', [weight])
    const zero = callOperator('aten::linear', [real(x, [m, k], 'float32'), weight]) as Tensor
    t.ok(
      (zero.data() as Float32Array).every((v) => v === 0),
      'a packed weight follows writes into the weight',
    )
  }
  t.end()
})

t.test('integers wrap around', (t) => {
  const a = Tensor.fromStorage(Int32Array.of(2 ** 30, 3), { dtype: 'int32', shape: [1, 2] })
  const b = Tensor.fromStorage(Int32Array.of(4, 5), { dtype: 'int32', shape: [2, 1] })
  t.strictSame([...((callOperator('aten::mm', [a, b]) as Tensor).data() as Int32Array)], [15])
  const sum = callOperator('aten::addmm', [tensor(Int32Array.of(7), [1]), a, b, float(2.5), float(-1.9)]) as Tensor
  t.strictSame([...(sum.data() as Int32Array)], [-1], 'fractions of factors are cut off')
  t.end()
})

t.test('products of complex vectors', (t) => {
  const complex = (pairs: number[][]): Tensor => callOperator('aten::view_as_complex', [tensor(pairs)]) as Tensor
  const parts = (z: unknown): number[] => [...((callOperator('aten::view_as_real', [z as Tensor]) as Tensor).data() as Float32Array)]
  const a = complex([
    [1, 2],
    [0, -1],
  ])
  const b = complex([
    [3, 1],
    [2, 5],
  ])
  // (1 + 2i)(3 + i) - i(2 + 5i), and the same with 1 - 2i and i
  t.strictSame(parts(callOperator('aten::dot', [a, b])), [6, 5])
  t.strictSame(parts(callOperator('aten::vdot', [a, b])), [0, -3])
  // a batch of matrices with one column, times a vector of one
  const rows = callOperator('aten::view', [tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), [3, 2, 1, 2].map(int)]) as Tensor
  const batch = callOperator('aten::view_as_complex', [rows]) as Tensor
  const product = callOperator('aten::matmul', [batch, complex([[0, 1]])]) as Tensor
  t.strictSame(product.shape, [3, 2])
  t.strictSame(parts(product), [-1, 0, -3, 2, -5, 4, -7, 6, -9, 8, -11, 10])
  t.end()
})

t.test('an empty inner dimension gives the addend', (t) => {
  const empty = (shape: number[]): Tensor => Tensor.fromStorage(new Float32Array(0), { dtype: 'float32', shape })
  const sum = callOperator('aten::addmm', [tensor([1, 2]), empty([3, 0]), empty([0, 2])]) as Tensor
  t.strictSame(sum.toArray(), [
    [1, 2],
    [1, 2],
    [1, 2],
  ])
  t.strictSame((callOperator('aten::bmm', [empty([0, 3, 2]), empty([0, 2, 4])]) as Tensor).shape, [0, 3, 4])
  t.end()
})

t.test('einsum', (t) => {
  const [a, b] = [random.data(6), random.data(12)]
  const sum = callOperator('aten::einsum', ['ij, jk -> ik', [real(a, [2, 3], 'float64'), real(b, [3, 4], 'float64')]]) as Tensor
  t.ok(distance(sum, multiply(a, b, 2, 4, 3), 3) < 1)
  const square = tensor([
    [1, 2],
    [3, 4],
  ])
  t.strictSame((callOperator('aten::einsum', ['ii', [square]]) as Tensor).toArray(), 5)
  t.strictSame((callOperator('aten::einsum', ['i...->...i', [square]]) as Tensor).toArray(), [
    [1, 3],
    [2, 4],
  ])
  t.throws(() => callOperator('aten::einsum', ['ij,jk->il', [square, square]]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('shapes and dtypes that do not fit', (t) => {
  const two = tensor([
    [1, 2],
    [3, 4],
  ])
  const three = tensor([[1, 2, 3]])
  for (const op of ['aten::mm', 'aten::matmul', 'aten::linear'])
    t.throws(
      () =>
        callOperator(op, [
          two,
          tensor([
            [1, 2, 3],
            [4, 5, 6],
            [7, 8, 9],
          ]),
        ]),
      { code: 'INVALID_ARGUMENT' },
    )
  t.throws(() => callOperator('aten::mm', [two, tensor([[1], [2]], undefined, 'float64')]), { code: 'INVALID_DTYPE' })
  t.throws(() => callOperator('aten::bmm', [two, two]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::addmm', [three, two, two]), { code: 'INVALID_ARGUMENT' })
  t.throws(
    () =>
      callOperator('aten::linalg_inv', [
        tensor([
          [1, 2],
          [2, 4],
        ]),
      ]),
    { code: 'INVALID_ARGUMENT' },
  )
  t.end()
})

t.test('a linear layer packs its weight once for rows that lie apart, too', async (t) => {
  const [n, k, rows] = [48, 32, 16]
  const weight = tensor(Float32Array.from(random.data(n * k)), [n, k])
  const bias = tensor(Float32Array.from(random.data(n)))
  const tokens = tensor(Float32Array.from(random.data(rows * 4 * k)), [rows, 4, k])
  const first = callOperator<Tensor>('aten::select.int', [tokens, int(1), int(0)])
  const dense = callOperator<Tensor>('aten::clone', [first, int(0)])
  t.notOk(first.isContiguous)
  const results = [first, first, dense].map((x) => callOperator<Tensor>('aten::linear', [x, weight, bias]).data())
  t.equal(Storage.derivedOf(weight.storage)?.length, 1)
  t.strictSame(results[1], results[2])
  t.strictSame(results[0], results[2])
})

atEveryLevel(t, import.meta.url)
