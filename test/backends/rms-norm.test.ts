import t from 'tap'
import { callOperator, float, int, type Tensor, tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { distance, Random, real } from './support/random.js'

const random = new Random(5)
const op = (name: string, ...args: Parameters<typeof callOperator>[1]): Tensor => callOperator(`aten::${name}`, args) as Tensor

/** x / root(mean(x^2) + eps) * weight for each run of `size` values. */
function expected(x: Float64Array, size: number, eps: number, weight?: Float64Array): Float64Array {
  return x.map((v, i) => {
    const start = i - (i % size)
    const mean = x.subarray(start, start + size).reduce((sum, a) => sum + a * a, 0) / size
    return (v / Math.sqrt(mean + eps)) * (weight?.[i % size] ?? 1)
  })
}

t.test('rows of any length', (t) => {
  for (const dtype of ['float32', 'float64'] as const) {
    for (const size of [1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 130, 1000]) {
      const [x, w] = [random.data(3 * size), random.data(size)]
      const result = op('rms_norm', real(x, [3, size], dtype), [int(size)], real(w, [size], dtype), float(1e-5))
      t.ok(distance(result, expected(x, size, 1e-5, w), size) < 2, `${dtype} ${size}`)
    }
  }
  t.end()
})

t.test('rows that lie apart are read where they are, all others copied', (t) => {
  const x = random.data(2 * 3 * 4 * 6)
  const whole = real(x, [2, 3, 4, 6], 'float32')
  const layouts: [string, Tensor][] = [
    ['transposed rows', op('transpose.int', whole, int(0), int(2))],
    ['columns cut off', op('slice.Tensor', whole, int(3), int(1), int(5), int(1))],
    ['every other row', op('slice.Tensor', whole, int(1), int(0), int(3), int(2))],
    ['one row for all', op('expand', op('slice.Tensor', whole, int(0), int(0), int(1), int(1)), [int(5), int(3), int(4), int(6)], false)],
    ['columns apart', op('slice.Tensor', whole, int(3), int(0), int(6), int(2))],
    ['columns first', op('transpose.int', whole, int(1), int(3))],
    ['rows that overlap', op('as_strided', real(x, [144], 'float32'), [5, 6].map(int), [1, 1].map(int), null)],
  ]
  for (const [name, view] of layouts) {
    const size = view.shape.at(-1)!
    const dense = op('contiguous', view)
    const want = op('rms_norm', dense, [int(size)])
    const got = op('rms_norm', view, [int(size)])
    t.strictSame(got.toArray(), want.toArray(), name)
    t.strictSame(got.strides, want.strides, `${name}: the result is dense`)
  }
  const many = op('permute', real(random.data(64), [2, 2, 2, 2, 2, 2], 'float32'), [4, 2, 0, 3, 1, 5].map(int))
  t.strictSame(op('rms_norm', many, [int(2)]).toArray(), op('rms_norm', op('contiguous', many), [int(2)]).toArray(), 'too many dimensions')
  t.end()
})

t.test('memory formats', (t) => {
  const x = op('to.dtype', real(random.data(120), [2, 3, 4, 5], 'float32'), 'bfloat16')
  const last = op('contiguous', x, 'channels_last')
  const got = op('rms_norm', last, [int(5)])
  t.strictSame(got.strides, last.strides, 'channels last stay so')
  t.strictSame(op('to.dtype', got, 'float32').toArray(), op('to.dtype', op('rms_norm', x, [int(5)]), 'float32').toArray())
  t.end()
})

t.test('weights', (t) => {
  const x = tensor(random.data(12), [2, 6], 'float32')
  const half = op('to.dtype', x, 'float16')
  const weight = tensor([1, 0.5, -2, 3, 0, 7], [6], 'float32')
  for (const dtype of ['float16', 'bfloat16', 'int32', 'float64']) {
    const other = op('to.dtype', weight, dtype)
    const want = op('rms_norm', x, [int(6)], op('to.dtype', other, 'float32'))
    t.strictSame(op('rms_norm', x, [int(6)], other).toArray(), want.toArray(), `${dtype} weights of float32 rows`)
  }
  const [wide, narrow] = [weight, op('to.dtype', weight, 'float16')].map((w) =>
    op('to.dtype', op('rms_norm', half, [int(6)], w), 'float32'),
  )
  t.strictSame(narrow!.toArray(), wide!.toArray(), 'halves are rounded once, whatever the weight')
  const wider = tensor(random.data(12), [2, 6], 'float32')
  t.throws(() => callOperator('aten::_fused_rms_norm', [x, [int(6)], wider, null]), {
    name: 'PtliteError',
    message: /can be broadcast to \[6\]/,
  })
  t.end()
})

atEveryLevel(t, import.meta.url)
