import t from 'tap'
import { callOperator, float, int, type Tensor, tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { count, distance, Random, real } from './support/random.js'

const random = new Random(3)
const EPS = 1e-5

/** (x - mean) / deviation of each run of `size` values. */
function normalised(x: Float64Array, size: number): Float64Array {
  const out = new Float64Array(x.length)
  for (let start = 0; start < x.length; start += size) {
    const row = x.subarray(start, start + size)
    const mean = row.reduce((a, b) => a + b, 0) / size
    const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / size
    row.forEach((v, i) => (out[start + i] = (v - mean) / Math.sqrt(variance + EPS)))
  }
  return out
}

t.test('layer, group and instance norm', (t) => {
  for (const [n, c, hw] of [
    [2, 4, 5],
    [1, 6, 33],
    [3, 2, 128],
  ] as const) {
    for (const dtype of ['float32', 'float64'] as const) {
      const x = random.data(n * c * hw)
      const input = real(x, [n, c, hw], dtype)
      const [w, b] = [random.data(hw), random.data(hw)]
      const layer = callOperator('aten::layer_norm', [input, [int(hw)], real(w, [hw], dtype), real(b, [hw], dtype), float(EPS)]) as Tensor
      t.ok(
        distance(
          layer,
          normalised(x, hw).map((v, i) => v * w[i % hw]! + b[i % hw]!),
          hw,
        ) < 20,
        `layer ${n} ${c} ${hw} ${dtype}`,
      )
      const [gw, gb] = [random.data(c), random.data(c)]
      const channel = (i: number): number => Math.floor(i / hw) % c
      const group = callOperator('aten::group_norm', [input, int(2), real(gw, [c], dtype), real(gb, [c], dtype), float(EPS)]) as Tensor
      t.ok(
        distance(
          group,
          normalised(x, (c / 2) * hw).map((v, i) => v * gw[channel(i)]! + gb[channel(i)]!),
          hw,
        ) < 20,
        `group ${n} ${c} ${hw} ${dtype}`,
      )
      const instance = callOperator('aten::instance_norm', [input, null, null, null, null, true, float(0.1), float(EPS), false]) as Tensor
      t.ok(distance(instance, normalised(x, hw), hw) < 20, `instance ${n} ${c} ${hw} ${dtype}`)
    }
  }
  t.end()
})

t.test('batch norm in training moves the running statistics', (t) => {
  const x = tensor([
    [1, 10],
    [3, 30],
  ])
  const mean = tensor([0, 0])
  const variance = tensor([1, 1])
  const y = callOperator('aten::batch_norm', [x, null, null, mean, variance, true, float(0.5), float(0), false]) as Tensor
  t.strictSame(y.toArray(), [
    [-1, -1],
    [1, 1],
  ])
  t.strictSame(mean.toArray(), [1, 10])
  t.strictSame(variance.toArray(), [1.5, 100.5])
  const still = callOperator('aten::batch_norm', [x, null, null, mean, variance, false, float(0.5), float(0), false]) as Tensor
  t.ok(distance(still, Float64Array.of(0, 0, 2 / Math.sqrt(1.5), 20 / Math.sqrt(100.5)), 1) < 2)
  t.throws(() => callOperator('aten::batch_norm', [x, null, null, null, null, false, float(0), float(0), false]), {
    code: 'INVALID_ARGUMENT',
  })
  t.end()
})

t.test('softmax along any dimension', (t) => {
  for (const shape of [[5], [3, 40], [2, 7, 19], [4, 3, 1]]) {
    for (let dim = 0; dim < shape.length; dim++) {
      const x = random.data(count(shape)).map((v) => v * 10)
      const inner = count(shape.slice(dim + 1))
      const size = shape[dim]!
      const sums = new Map<number, number>()
      const key = (i: number): number => Math.floor(i / inner / size) * inner + (i % inner)
      x.forEach((v, i) => sums.set(key(i), (sums.get(key(i)) ?? 0) + Math.exp(v)))
      const expected = x.map((v, i) => Math.exp(v) / sums.get(key(i))!)
      for (const dtype of ['float32', 'float64'] as const) {
        const input = real(x, shape, dtype)
        t.ok(
          distance(callOperator('aten::softmax.int', [input, int(dim)]) as Tensor, expected, size) < 4,
          `${shape.join(' x ')} along ${dim}`,
        )
        t.ok(distance(callOperator('aten::log_softmax.int', [input, int(dim - shape.length)]) as Tensor, expected.map(Math.log), size) < 4)
      }
    }
  }
  t.strictSame((callOperator('aten::softmax.int', [tensor([-Infinity, 0]), int(0)]) as Tensor).toArray(), [0, 1])
  t.throws(() => callOperator('aten::softmax.int', [tensor([1]), int(1)]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('pooling', (t) => {
  const x = tensor([
    [
      [1, 5, 2, 0],
      [3, 4, NaN, 1],
      [7, 8, 9, 6],
    ],
  ])
  const maxima = callOperator('aten::max_pool2d', [x, [2, 2], [1, 2]]) as Tensor
  t.strictSame(maxima.toArray(), [
    [
      [5, NaN],
      [8, NaN],
    ],
  ])
  const [values, places] = callOperator('aten::max_pool2d_with_indices', [x, [3, 3], [2, 2], [1, 1]]) as unknown as [Tensor, Tensor]
  t.strictSame(values.toArray(), [
    [
      [5, NaN],
      [8, NaN],
    ],
  ])
  t.strictSame(places.toArray(), [
    [
      [1, 6],
      [9, 6],
    ],
  ])
  const wide = tensor([[[1, 2, 3, 4, 5]]])
  t.strictSame((callOperator('aten::avg_pool1d', [wide, [2], [2], [1], true, true]) as Tensor).toArray(), [[[0.5, 2.5, 4.5]]])
  t.strictSame((callOperator('aten::avg_pool1d', [wide, [2], [2], [1], true, false]) as Tensor).toArray(), [[[1, 2.5, 4.5]]])
  t.strictSame((callOperator('aten::adaptive_avg_pool1d', [wide, [2]]) as Tensor).toArray(), [[[2, 4]]])
  t.throws(() => callOperator('aten::max_pool2d', [x, [2, 2], [1, 1], [2, 2]]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::avg_pool1d', [wide, [9]]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('attention: the pieces and the whole agree', (t) => {
  const [batch, length, width, heads] = [2, 5, 8, 2]
  const values = (...shape: number[]): Tensor => real(random.data(count(shape)), shape, 'float64')
  const x = values(batch, length, width)
  const [wqkv, bqkv, wo, bo] = [values(3 * width, width), values(3 * width), values(width, width), values(width)]
  const [whole] = callOperator('aten::_native_multi_head_attention', [x, x, x, int(width), int(heads), wqkv, bqkv, wo, bo]) as unknown as [
    Tensor,
  ]
  const qkv = callOperator('aten::linear', [x, wqkv, bqkv]) as Tensor
  const part = (p: number): Tensor => {
    const slice = callOperator('aten::slice.Tensor', [qkv, int(2), int(p * width), int((p + 1) * width), int(1)]) as Tensor
    const split = callOperator('aten::reshape', [slice, [batch, length, heads, width / heads].map((v) => int(v))]) as Tensor
    return callOperator('aten::transpose.int', [split, int(1), int(2)]) as Tensor
  }
  const [context, weights] = callOperator('aten::_scaled_dot_product_attention', [part(0), part(1), part(2)]) as unknown as [Tensor, Tensor]
  t.strictSame(weights.shape, [batch, heads, length, length])
  const joined = callOperator('aten::transpose.int', [context, int(1), int(2)]) as Tensor
  const flat = callOperator('aten::reshape', [joined, [batch, length, width].map((v) => int(v))]) as Tensor
  const expected = callOperator('aten::linear', [flat, wo, bo]) as Tensor
  t.ok(distance(whole, expected.data() as Float64Array, width) < 2)
  t.end()
})

t.test('solving and factoring', (t) => {
  const a = tensor([
    [4, 1],
    [2, 3],
  ])
  const near = (found: unknown, expected: number[]): void => void t.ok(distance(found as Tensor, Float64Array.from(expected), 1) < 2)
  near(callOperator('aten::linalg_inv', [a]), [0.3, -0.1, -0.2, 0.4])
  near(callOperator('aten::linalg_solve', [a, tensor([6, 8])]), [1, 2])
  near(callOperator('aten::linalg_det', [a]), [10])
  near(callOperator('aten::linalg_matrix_power', [a, int(2)]), [18, 7, 14, 11])
  near(
    callOperator('aten::linalg_cholesky', [
      tensor([
        [4, 2],
        [2, 5],
      ]),
    ]),
    [2, 0, 1, 2],
  )
  near(
    callOperator('aten::cdist', [
      tensor([[0, 0]]),
      tensor([
        [3, 4],
        [1, 0],
      ]),
    ]),
    [5, 1],
  )
  t.throws(
    () =>
      callOperator('aten::linalg_cholesky', [
        tensor([
          [1, 2],
          [2, 1],
        ]),
      ]),
    { code: 'INVALID_ARGUMENT' },
  )
  t.end()
})

atEveryLevel(t, import.meta.url)

t.test('rows of one value are the bias', (t) => {
  const row = tensor(new Float32Array(37).fill(-4.3228045))
  const bias = tensor(Float32Array.from({ length: 37 }, (_, i) => i / 8))
  t.strictSame(callOperator('aten::layer_norm', [row, [37], null, bias, float(EPS), false]), bias)
  t.end()
})

t.test('a batch norm of nothing keeps its statistics', (t) => {
  const one = (): Tensor => tensor([1, 1, 1])
  for (const shape of [
    [0, 3],
    [0, 3, 2, 2],
    [2, 3, 0],
  ]) {
    const [mean, variance] = [one(), one()]
    for (const training of [false, true]) {
      const args = [tensor([], shape), one(), one(), mean, variance, training, float(0.1), float(EPS)]
      t.strictSame((callOperator('aten::batch_norm', [...args, false]) as Tensor).shape, shape)
      if (training)
        t.throws(() => callOperator('aten::native_batch_norm', args), { code: 'INVALID_ARGUMENT', message: /has no statistics/ })
    }
    t.strictSame([mean.toArray(), variance.toArray()], [[1, 1, 1], [1, 1, 1]]) // prettier-ignore
  }
  t.end()
})
