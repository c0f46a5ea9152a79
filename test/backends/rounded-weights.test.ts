import t from 'tap'
import { JitAlgorithm, WeightFormat } from '../../runtime/native/generated/kernels.js'
import { roundedRows, roundedWeight } from '../../runtime/operators/support/rounded-weight.js'
import type { Rounding } from '../../runtime/tensor/storage.js'
import { callOperator, type Input, int, setNumThreads, type Tensor, tensor } from '../../src/index.js'
import { Random } from '../native/fixtures/random.js'
import { asBytes, furthest, productOf } from '../support/products.js'

/** Products with weights in few bits against their definition in double precision: a number is its integer times its scale. */

const random = new Random(11)
const normal = (count: number, scale = 1): Float32Array =>
  Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log((1 - random.next()) / 2))
    return scale * radius * Math.cos(Math.PI * random.next())
  })

function weightOf(data: Float32Array, shape: number[], rounding: Rounding): Tensor {
  const weight = tensor(data, shape)
  weight.storage.rounding = rounding
  return weight
}

/** The numbers that products see. */
const numbersOf = (weight: Tensor, transposed = false): Float32Array =>
  roundedRows(roundedWeight(weight, transposed)!, null).data() as Float32Array

const call = (name: string, ...args: Input[]): Tensor => callOperator(name, args) as Tensor

/** Activations as products with `rounding` take them. */
function seenBy({ format, bytes }: Rounding, x: Float32Array, k: number): ArrayLike<number> {
  if (!bytes) return x
  if (format !== WeightFormat.bfloat16) return asBytes(x, k)
  const rounded = callOperator('aten::to.dtype', [tensor(x, [x.length]), 'bfloat16'])
  return (callOperator('aten::to.dtype', [rounded as Tensor, 'float32']) as Tensor).data() as Float32Array
}

const FORMATS: readonly (readonly [string, Rounding])[] = [
  ['bfloat16', { format: WeightFormat.bfloat16, group: 0, bytes: false }],
  ['bfloat16 by bfloat16', { format: WeightFormat.bfloat16, group: 0, bytes: true }],
  ['float16', { format: WeightFormat.float16, group: 0, bytes: false }],
  ...([0, 32, 64, 256] as const).flatMap((group) =>
    [true, false].map((bytes) => [`int8, ${group}, ${bytes ? 'bytes' : 'floats'}`, { format: WeightFormat.int8, group, bytes }] as const),
  ),
  ...([32, 128] as const).flatMap((group) =>
    [true, false].map((bytes) => [`int4, ${group}, ${bytes ? 'bytes' : 'floats'}`, { format: WeightFormat.int4, group, bytes }] as const),
  ),
]

const SIZES = [
  [1, 16, 32],
  [1, 50, 72],
  [2, 33, 64],
  [3, 48, 333],
  [5, 17, 96],
  [7, 64, 160],
  [14, 20, 260],
  [521, 18, 40],
  // more columns and numbers than are unpacked at a time
  [20, 370, 800],
] as const

for (const [name, rounding] of FORMATS) {
  t.test(`${name}: linear layers, products and embeddings`, async (t) => {
    for (const [m, n, k] of SIZES) {
      const [x, w, b] = [normal(m * k), normal(n * k, 0.1), normal(n)]
      const weight = weightOf(w, [n, k], rounding)
      const numbers = numbersOf(weight)
      const seen = seenBy(rounding, x, k)
      const [input, bias] = [tensor(x, [m, k]), tensor(b, [n])]
      // sums of k terms in float32
      const bound = 2e-6 * k
      const label = `${m} x ${n} x ${k}`
      t.ok(furthest(call('aten::linear', input, weight, bias).data() as Float32Array, productOf(seen, numbers, k, b)) < bound, label)
      t.ok(
        furthest(call('aten::linear', input, weight).data() as Float32Array, productOf(seen, numbers, k, null)) < bound,
        `${label}, no bias`,
      )
      const turned = call('aten::t', weight)
      t.ok(
        furthest(call('aten::addmm', bias, input, turned).data() as Float32Array, productOf(seen, numbers, k, b)) < bound,
        `${label}, addmm`,
      )
      const rows = Int32Array.from({ length: 5 }, () => random.integer(0, n - 1))
      const expected = Float32Array.from([...rows].flatMap((row) => [...numbers.subarray(row * k, (row + 1) * k)]))
      t.same(call('aten::embedding', weight, tensor(rows, [5])).data(), expected, `${label}, embedding`)
    }
  })

  t.test(`${name}: a matrix [inputs, outputs]`, async (t) => {
    const [m, n, k] = [3, 40, 96]
    const [x, w] = [normal(m * k), normal(n * k, 0.1)]
    const matrix = weightOf(w, [k, n], rounding)
    const numbers = numbersOf(matrix, true)
    const columns = Float32Array.from({ length: n * k }, (_, i) => w[(i % k) * n + Math.floor(i / k)]!)
    t.same(numbers, numbersOf(weightOf(columns, [n, k], rounding)), 'the numbers of the transposed one')
    const product = call('aten::matmul', tensor(x, [1, m, k]), matrix)
    t.same(product.shape, [1, m, n])
    t.ok(furthest(product.data() as Float32Array, productOf(seenBy(rounding, x, k), numbers, k, null)) < 2e-6 * k)
  })

  t.test(`${name}: the same bits by any number of threads`, async (t) => {
    t.teardown(() => setNumThreads(1))
    const [n, k] = [370, 800]
    const [weight, bias] = [weightOf(normal(n * k, 0.1), [n, k], rounding), tensor(normal(n), [n])]
    for (const m of [1, 2, 5, 16, 61]) {
      const x = tensor(normal(m * k), [m, k])
      const [one, two, five] = [1, 2, 5].map((threads) => {
        setNumThreads(threads)
        return call('aten::linear', x, weight, bias).data()
      })
      t.same(two, one, `${m} rows, two threads`)
      t.same(five, one, `${m} rows, five threads`)
    }
  })

  t.test(`${name}: bounds and steps`, async (t) => {
    const [m, n, k] = [6, 40, 64]
    const [x, w, r] = [normal(m * k), normal(n * k, 0.1), normal(m * n)]
    const weight = weightOf(w, [n, k], rounding)
    const plain = call('aten::linear', tensor(x, [m, k]), weight).data() as Float32Array
    const clamped = call('ptlite::linear', tensor(x, [m, k]), weight, null, -0.25, 0.5, [], [], [], []).data() as Float32Array
    t.same(
      clamped,
      plain.map((v) => Math.min(Math.max(v, -0.25), 0.5)),
    )
    // value 0, the block, plus value 1
    const sum = call(
      'ptlite::linear',
      tensor(x, [m, k]),
      weight,
      null,
      -Infinity,
      Infinity,
      [tensor(r, [m, n])],
      [JitAlgorithm.add],
      [0, 1],
      [0, 0],
    )
    t.ok(
      furthest(
        sum.data() as Float32Array,
        plain.map((v, i) => v + r[i]!),
      ) < 1e-6,
    )
  })
}

t.test('rounding errors are as small as the format allows', async (t) => {
  const [n, k] = [32, 128]
  const w = normal(n * k)
  const errorOf = (rounding: Rounding): number => {
    const numbers = numbersOf(weightOf(w, [n, k], rounding))
    return Math.sqrt(w.reduce((sum, v, i) => sum + (v - numbers[i]!) ** 2, 0) / w.reduce((sum, v) => sum + v ** 2, 0))
  }
  /** The largest magnitude of a group at the end of the range. */
  const plain = (group: number, end: number): number => {
    let [error, all] = [0, 0]
    for (let from = 0; from < w.length; from += group) {
      const some = w.subarray(from, from + group)
      const scale = some.reduce((a, b) => Math.max(a, Math.abs(b)), 0) / end
      for (const v of some) {
        error += (v - scale * Math.round(v / scale)) ** 2
        all += v ** 2
      }
    }
    return Math.sqrt(error / all)
  }
  const { bfloat16, float16, int8, int4 } = WeightFormat
  t.ok(errorOf({ format: bfloat16, group: 0, bytes: false }) < 2 ** -8)
  t.ok(errorOf({ format: float16, group: 0, bytes: false }) < 2 ** -11)
  t.ok(errorOf({ format: int8, group: 0, bytes: true }) < 1.02 * plain(k, 127))
  t.ok(errorOf({ format: int8, group: 32, bytes: true }) < 1.02 * plain(32, 127))
  for (const group of [32, 64, 128]) t.ok(errorOf({ format: int4, group, bytes: true }) < 0.9 * plain(group, 7), `groups of ${group}`)
})

t.test('numbers that are not finite, none at all, and indices out of range', async (t) => {
  const rounding = { format: WeightFormat.int4, group: 32, bytes: true }
  const w = normal(16 * 64)
  w[5 * 64 + 3] = Infinity
  w.fill(0, 7 * 64, 8 * 64)
  const weight = weightOf(w, [16, 64], rounding)
  const x = tensor(new Float32Array(64).fill(1), [1, 64])
  const product = [...(call('aten::linear', x, weight).data() as Float32Array)]
  t.same(
    product.map((v) => Number.isNaN(v)),
    product.map((_, i) => i === 5),
    'only its row is no number',
  )
  t.equal(product[7], 0)
  t.throws(() => call('aten::embedding', weight, tensor(Int32Array.of(16), [1])), { code: 'INVALID_ARGUMENT' })
  const strange = new Float32Array(64).fill(1)
  strange[40] = NaN
  t.ok(
    [...(call('aten::linear', tensor(strange, [1, 64]), weight).data() as Float32Array)].every(Number.isNaN),
    'an input that is no number',
  )
})

t.test('a weight that is written to is rounded again', async (t) => {
  const weight = weightOf(normal(16 * 32), [16, 32], { format: WeightFormat.int8, group: 0, bytes: false })
  const x = tensor(normal(32), [1, 32])
  const before = call('aten::linear', x, weight).data() as Float32Array
  callOperator('aten::mul_.Scalar', [weight, int(2)])
  const after = call('aten::linear', x, weight).data() as Float32Array
  t.ok(
    furthest(
      after,
      before.map((v) => 2 * v),
    ) < 1e-5,
  )
})

t.test('of no rows, or for no outputs, nothing comes', (t) => {
  for (const [name, rounding] of FORMATS)
    for (const [rows, outputs] of [
      [9, 0],
      [0, 16],
    ] as const) {
      const weight = weightOf(normal(outputs * 64), [outputs, 64], rounding)
      const result = call('aten::linear', tensor(normal(rows * 64), [rows, 64]), weight, null)
      t.strictSame([...result.shape], [rows, outputs], name)
    }
  t.end()
})
