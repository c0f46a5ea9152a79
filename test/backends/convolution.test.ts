import t from 'tap'
import { callOperator, float, int, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { count, distance, Random, real } from './support/random.js'

const random = new Random(2)

interface Case {
  readonly batch: number
  readonly groups: number
  readonly inChannels: number
  readonly outChannels: number
  readonly size: number[]
  readonly kernel: number[]
  readonly stride: number[]
  readonly padding: number[]
  readonly dilation: number[]
}

/** Calls `body` with every index into `shape`. */
function forEach(shape: readonly number[], body: (index: readonly number[]) => void, index: number[] = []): void {
  if (index.length === shape.length) return body(index)
  for (let i = 0; i < shape[index.length]!; i++) forEach(shape, body, [...index, i])
}

const flat = (shape: readonly number[], index: readonly number[]): number => index.reduce((at, i, d) => at * shape[d]! + i, 0)

/** The definition, tap by tap. A transposed convolution spreads what a convolution gathers. */
function reference(c: Case, out: readonly number[], x: Float64Array, w: Float64Array, b: Float64Array, transposed: boolean): Float64Array {
  const inPer = c.inChannels / c.groups
  const outPer = c.outChannels / c.groups
  const result = new Float64Array(c.batch * c.outChannels * count(out)).map((_, i) => b[Math.floor(i / count(out)) % c.outChannels]!)
  forEach([c.batch, c.groups, inPer, outPer], ([n, g, i, o]) => {
    const ic = g! * inPer + i!
    const oc = g! * outPer + o!
    const filter = (transposed ? ic * outPer + o! : oc * inPer + i!) * count(c.kernel)
    forEach(transposed ? c.size : out, (at) => {
      forEach(c.kernel, (tap) => {
        const other = at.map((p, d) => p * c.stride[d]! - c.padding[d]! + tap[d]! * c.dilation[d]!)
        const from = transposed ? at : other
        const to = transposed ? other : at
        if (from.some((p, d) => p < 0 || p >= c.size[d]!) || to.some((p, d) => p < 0 || p >= out[d]!)) return
        result[(n! * c.outChannels + oc) * count(out) + flat(out, to)]! +=
          x[(n! * c.inChannels + ic) * count(c.size) + flat(c.size, from)]! * w[filter + flat(c.kernel, tap)]!
      })
    })
  })
  return result
}

function randomCase(dims: number, depthwise: boolean): Case {
  const each = (values: readonly number[]): number[] => Array.from({ length: dims }, () => random.pick(values))
  const groups = depthwise ? random.pick([3, 4]) : random.pick([1, 1, 2])
  const kernel = each([1, 2, 3, 5])
  const dilation = each([1, 1, 2])
  return {
    batch: random.pick([1, 2]),
    groups,
    inChannels: depthwise ? groups : groups * random.pick([1, 3]),
    outChannels: groups * random.pick(depthwise ? [1, 2] : [1, 2, 9]),
    size: kernel.map((k, d) => (k - 1) * dilation[d]! + 1 + random.pick(dims === 3 ? [0, 2] : [0, 3, 20])),
    kernel,
    stride: each([1, 1, 2, 3]),
    padding: each([0, 1, 2]),
    dilation,
  }
}

const ints = (values: readonly number[]): number[] => values.map((v) => int(v) as number)

t.test('convolutions of every kind', (t) => {
  for (let round = 0; round < 60; round++) {
    const dims = random.pick([1, 2, 2, 3])
    const c = randomCase(dims, round % 3 === 0)
    const dtype = random.pick(['float32', 'float64'] as const)
    const out = c.size.map((s, d) => Math.floor((s + 2 * c.padding[d]! - c.dilation[d]! * (c.kernel[d]! - 1) - 1) / c.stride[d]!) + 1)
    const x = random.data(c.batch * c.inChannels * count(c.size))
    const w = random.data((c.outChannels * c.inChannels * count(c.kernel)) / c.groups)
    const b = random.data(c.outChannels)
    const expected = reference(c, out, x, w, b, false)
    const weight = real(w, [c.outChannels, c.inChannels / c.groups, ...c.kernel], dtype)
    for (let use = 0; use < 2; use++) {
      const y = callOperator(`aten::conv${dims}d`, [
        real(x, [c.batch, c.inChannels, ...c.size], dtype),
        weight,
        real(b, [c.outChannels], dtype),
        ints(c.stride),
        ints(c.padding),
        ints(c.dilation),
        int(c.groups),
      ]) as Tensor
      t.ok(distance(y, expected, w.length / c.outChannels) < 2, JSON.stringify({ ...c, dtype, use }))
    }
  }
  t.end()
})

t.test('transposed convolutions', (t) => {
  for (let round = 0; round < 40; round++) {
    const dims = random.pick([1, 2, 3])
    const c = { ...randomCase(dims, false), size: Array.from({ length: dims }, () => random.pick([1, 3, 6])) }
    const extra = c.stride.map((s) => s - 1)
    const out = c.size.map((s, d) => (s - 1) * c.stride[d]! - 2 * c.padding[d]! + c.dilation[d]! * (c.kernel[d]! - 1) + extra[d]! + 1)
    if (out.some((s) => s <= 0)) continue
    const x = random.data(c.batch * c.inChannels * count(c.size))
    const w = random.data((c.outChannels * c.inChannels * count(c.kernel)) / c.groups)
    const b = random.data(c.outChannels)
    const y = callOperator('aten::convolution', [
      real(x, [c.batch, c.inChannels, ...c.size], 'float32'),
      real(w, [c.inChannels, c.outChannels / c.groups, ...c.kernel], 'float32'),
      real(b, [c.outChannels], 'float32'),
      ints(c.stride),
      ints(c.padding),
      ints(c.dilation),
      true,
      ints(extra),
      int(c.groups),
    ]) as Tensor
    t.strictSame(y.shape, [c.batch, c.outChannels, ...out])
    t.ok(distance(y, reference(c, out, x, w, b, true), c.inChannels * count(c.kernel)) < 2, JSON.stringify(c))
  }
  t.end()
})

t.test("padding 'same' puts the odd zero behind", (t) => {
  const x = real(Float64Array.of(1, 2, 3), [1, 1, 3], 'float32')
  const w = real(Float64Array.of(1, 10), [1, 1, 2], 'float32')
  t.strictSame((callOperator('aten::conv1d.padding', [x, w, null, [1], 'same']) as Tensor).toArray(), [[[21, 32, 3]]])
  t.throws(() => callOperator('aten::conv1d.padding', [x, w, null, [2], 'same']), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('prepacked convolution and linear clamp their results', (t) => {
  const x = random.data(2 * 3 * 8 * 9)
  const w = random.data(4 * 3 * 3 * 3)
  const input = real(x, [2, 3, 8, 9], 'float32')
  const weight = real(w, [4, 3, 3, 3], 'float32')
  const plain = callOperator('aten::conv2d', [input, weight, null, [1, 1], [1, 1]]) as Tensor
  const packed = callOperator('prepacked::conv2d_clamp_prepack', [weight, null, [1, 1], [1, 1], [1, 1], int(1), float(0), float(0.5)])
  const clamped = callOperator('prepacked::conv2d_clamp_run', [input, packed as never]) as Tensor
  const expected = (plain.data() as Float32Array).map((v) => Math.min(Math.max(v, 0), 0.5))
  t.ok(distance(clamped, Float64Array.from(expected), 27) < 2)
  const matrix = real(w, [4, 27], 'float32')
  const rows = real(x.slice(0, 54), [2, 27], 'float32')
  const object = callOperator('prepacked::linear_clamp_prepack', [matrix, null, null, float(0.1)])
  const run = callOperator('prepacked::linear_clamp_run', [rows, object as never]) as Tensor
  const linear = callOperator('aten::linear', [rows, matrix]) as Tensor
  t.ok(
    distance(
      run,
      Float64Array.from(linear.data() as Float32Array, (v) => Math.min(v, 0.1)),
      27,
    ) < 2,
  )
  t.end()
})

t.test('prepacked layers keep NaN, with limits and without', (t) => {
  const one = real(Float64Array.of(1), [1, 1, 1, 1], 'float32')
  const values = Float64Array.of(1, NaN, Infinity, -8)
  for (const [lo, hi] of [
    [0, 6],
    [-9, null],
    [null, 6],
    [null, null],
  ] as const) {
    const limits = [lo === null ? null : float(lo), hi === null ? null : float(hi)]
    const expected = values.map((v) => (Number.isNaN(v) ? v : Math.min(Math.max(v, lo ?? -Infinity), hi ?? Infinity)))
    const conv = callOperator('prepacked::conv2d_clamp_prepack', [one, null, [1, 1], [0, 0], [1, 1], int(1), ...limits])
    const image = callOperator('prepacked::conv2d_clamp_run', [real(values, [1, 1, 2, 2], 'float32'), conv as never]) as Tensor
    t.strictSame(image.data(), Float32Array.from(expected))
    const linear = callOperator('prepacked::linear_clamp_prepack', [real(Float64Array.of(1), [1, 1], 'float32'), null, ...limits])
    const rows = callOperator('prepacked::linear_clamp_run', [real(values, [4, 1], 'float32'), linear as never]) as Tensor
    t.strictSame(rows.data(), Float32Array.from(expected))
  }
  t.end()
})

t.test('arguments that do not fit', (t) => {
  const x = real(random.data(2 * 5 * 5), [1, 2, 5, 5], 'float32')
  const w = real(random.data(3 * 2 * 3 * 3), [3, 2, 3, 3], 'float32')
  const fails = (...rest: unknown[]): void => void t.throws(() => callOperator('aten::conv2d', rest as never), { code: 'INVALID_ARGUMENT' })
  fails(x, w, null, [0, 1])
  fails(x, w, null, [1, 1], [-1, 0])
  fails(x, w, null, [1, 1], [0, 0], [1, 1], int(2))
  fails(x, real(random.data(54), [3, 2, 9, 1], 'float32'))
  fails(x, w, real(random.data(2), [2], 'float32'))
  t.throws(() => callOperator('aten::conv2d', [x, real(random.data(54), [3, 2, 3, 3], 'float64')]), { code: 'INVALID_DTYPE' })
  t.end()
})

t.test('a stride of any size', (t) => {
  const [x, weight] = [real(random.data(128), [1, 2, 8, 8], 'float32'), real(random.data(54), [3, 2, 3, 3], 'float32')]
  const call = (stride: number[]): Tensor => callOperator('aten::conv2d', [x, weight, null, ints(stride), ints([1, 1]), ints([2, 2]), int(1)]) as Tensor // prettier-ignore
  const found = call([1_073_741_824, 900_000_000])
  t.strictSame(found.shape, [1, 3, 1, 1])
  t.strictSame(found.data(), call([8, 8]).data(), 'one output is the same at every stride')
  t.end()
})

atEveryLevel(t, import.meta.url)
