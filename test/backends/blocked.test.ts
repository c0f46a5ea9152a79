import t from 'tap'
import { callOperator, float, getNumThreads, type Input, int, setNumThreads, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { count, distance, Random, real } from './support/random.js'

/** Kernels over channels in blocks of 16, against the operators that they stand for, in float64. */

const random = new Random(7)
const BLOCK = 16
const CHANNELS = [1, 3, 8, 15, 16, 17, 24, 33, 50]

const call = (name: string, ...args: readonly Input[]): Tensor => callOperator(name, args) as Tensor
const ints = (values: readonly number[]): number[] => values.map((v) => int(v) as number)
const limit = (x: number): Input => float(x)

function toBlocks(values: Float64Array, shape: number[]): Tensor {
  return call('ptlite::to_blocked', real(values, shape, 'float32'))
}

function lanes(bias: Float64Array): Tensor {
  const padded = new Float64Array(Math.ceil(bias.length / BLOCK) * BLOCK)
  padded.set(bias)
  return real(padded, [padded.length], 'float32')
}

interface Case {
  readonly batch: number
  readonly channels: number
  readonly outputs: number
  readonly size: number[]
  readonly kernel: number[]
  readonly stride: number[]
  readonly padding: number[]
  readonly dilation: number[]
}

function randomCase(): Case {
  const each = (values: readonly number[]): number[] => [random.pick(values), random.pick(values)]
  const square = (values: readonly number[]): number[] => new Array<number>(2).fill(random.pick(values))
  const usual = random.pick([true, true, false])
  const kernel = usual ? square([1, 3, 3, 5, 7]) : each([1, 2, 3, 4])
  const dilation = usual ? [1, 1] : each([1, 2])
  return {
    batch: random.pick([1, 1, 2]),
    channels: random.pick(CHANNELS),
    outputs: random.pick(CHANNELS),
    size: kernel.map((k, d) => (k - 1) * dilation[d]! + 1 + random.pick([0, 1, 4, 6, 8, 15, 30])),
    kernel,
    stride: usual ? square([1, 1, 2]) : each([1, 2, 3]),
    padding: usual ? square([0, (kernel[0]! - 1) / 2, random.pick([1, 2, 3])]) : each([0, 1, 3]),
    dilation,
  }
}

/** The same with a depth in front of the height. */
function randomVolume(): Case {
  const c = randomCase()
  const kernel = random.pick([1, 2, 3, 3])
  const dilation = random.pick([1, 1, 2])
  const padding = random.pick([0, 0, 1, 2, 4])
  // slices that only meet padding are results, too
  const size = random.pick([1, 2, 3, 5, 6])
  const enough = Math.max(size, (kernel - 1) * dilation + 1 - 2 * padding)
  return {
    ...c,
    size: [enough, ...c.size.map((n, d) => Math.min(n, (c.kernel[d]! - 1) * c.dilation[d]! + 16))],
    kernel: [kernel, ...c.kernel],
    stride: [random.pick([1, 1, 2]), ...c.stride],
    padding: [padding, ...c.padding],
    dilation: [dilation, ...c.dilation],
  }
}

/** What aten::conv2d or conv3d gives in float64, then a residual and limits. */
function expected(
  c: Case,
  data: { x: Float64Array; w: Float64Array; b: Float64Array },
  groups: number,
  min: number,
  max: number,
  residual?: Float64Array,
): { values: Float64Array; shape: number[] } {
  const y = call(
    `aten::conv${c.size.length}d`,
    real(data.x, [c.batch, c.channels, ...c.size], 'float64'),
    real(data.w, [c.outputs, c.channels / groups, ...c.kernel], 'float64'),
    real(data.b, [c.outputs], 'float64'),
    ints(c.stride),
    ints(c.padding),
    ints(c.dilation),
    int(groups),
  )
  const values = (y.data() as Float64Array).map((v, i) => Math.min(Math.max(v + (residual?.[i] ?? 0), min), max))
  return { values, shape: [...y.shape] }
}

t.test('reorders are inverse to each other', (t) => {
  for (const channels of CHANNELS) {
    const shape = [2, channels, random.pick([1, 3, 8]), random.pick([1, 5, 16, 33])]
    const x = random.data(count(shape))
    const blocked = toBlocks(x, shape)
    t.strictSame(blocked.shape, [2, Math.ceil(channels / BLOCK), shape[2], shape[3], BLOCK])
    const back = call('ptlite::from_blocked', blocked, int(channels))
    t.strictSame(back.shape, shape)
    t.strictSame([...(back.data() as Float32Array)], [...x])
    const rows = call('ptlite::blocked_rows', blocked, int(channels))
    t.strictSame(rows.shape, [2, shape[2], shape[3], channels])
    const last = call('aten::permute', rows, ints([0, 3, 1, 2]))
    t.strictSame(last.toArray(), back.toArray())
    t.strictSame([...(call('ptlite::to_blocked', last).data() as Float32Array)], [...(blocked.data() as Float32Array)], 'channels last')
    t.equal(
      (blocked.data() as Float32Array).filter((v) => v !== 0).length,
      x.filter((v) => v !== 0).length,
      'zeros in the lanes that are left',
    )
  }
  t.end()
})

t.test('volumes in blocks', (t) => {
  const x = random.data(2 * 17 * 2 * 3 * 5)
  const blocked = toBlocks(x, [2, 17, 2, 3, 5])
  t.strictSame(blocked.shape, [2, 2, 2, 3, 5, BLOCK])
  const back = call('ptlite::from_blocked', blocked, int(17))
  t.strictSame(back.shape, [2, 17, 2, 3, 5])
  t.strictSame([...(back.data() as Float32Array)], [...x])
  const rows = call('ptlite::blocked_rows', blocked, int(17))
  t.strictSame(call('aten::permute', rows, ints([0, 4, 1, 2, 3])).toArray(), back.toArray())
  t.end()
})

t.test('convolutions, from blocks and from planes', (t) => {
  for (let round = 0; round < 140; round++) {
    const c = round < 80 ? randomCase() : randomVolume()
    const x = random.data(c.batch * c.channels * count(c.size))
    const w = random.data(c.outputs * c.channels * count(c.kernel))
    const b = random.data(c.outputs)
    const [min, max] = random.pick([
      [-Infinity, Infinity],
      [0, 6],
      [-0.5, Infinity],
    ])
    const free = expected(c, { x, w, b }, 1, -Infinity, Infinity)
    const r = round % 2 === 0 ? random.data(free.values.length) : undefined
    const { values, shape } = expected(c, { x, w, b }, 1, min!, max!, r)
    const filter = call('ptlite::blocked_filter', real(w, [c.outputs, c.channels, ...c.kernel], 'float32'))
    const settings = [ints(c.stride), ints(c.padding), ints(c.dilation), limit(min!), limit(max!)]
    const residual = r === undefined ? null : toBlocks(r, shape)
    for (const plain of [false, true]) {
      const input = plain ? real(x, [c.batch, c.channels, ...c.size], 'float32') : toBlocks(x, [c.batch, c.channels, ...c.size])
      const y = call('ptlite::blocked_convolution', input, filter, lanes(b), residual, ...settings)
      const found = call('ptlite::from_blocked', y, int(c.outputs))
      t.strictSame(found.shape, shape)
      t.ok(distance(found, values, w.length / c.outputs) < 2, JSON.stringify({ ...c, min, max, plain, residual: residual !== null }))
    }
  }
  t.end()
})

t.test('images in several strips', (t) => {
  const usual = { stride: [1, 1], dilation: [1, 1] }
  for (const c of [
    { ...usual, batch: 2, channels: 600, outputs: 40, size: [19, 21], kernel: [1, 1], padding: [0, 0] },
    { ...usual, batch: 1, channels: 400, outputs: 700, size: [13, 11], kernel: [1, 1], padding: [0, 0] },
    { ...usual, batch: 1, channels: 120, outputs: 17, size: [47, 40], kernel: [3, 3], padding: [1, 1] },
    { ...usual, batch: 2, channels: 96, outputs: 20, size: [60, 47], kernel: [3, 1], padding: [1, 0], stride: [2, 2] },
  ]) {
    const x = random.data(c.batch * c.channels * count(c.size))
    const w = random.data(c.outputs * c.channels * count(c.kernel))
    const b = random.data(c.outputs)
    const { values } = expected(c, { x, w, b }, 1, -Infinity, Infinity)
    const filter = call('ptlite::blocked_filter', real(w, [c.outputs, c.channels, ...c.kernel], 'float32'))
    const settings = [ints(c.stride), ints(c.padding), ints(c.dilation), limit(-Infinity), limit(Infinity)]
    const input = toBlocks(x, [c.batch, c.channels, ...c.size])
    const y = call('ptlite::blocked_convolution', input, filter, lanes(b), null, ...settings)
    t.ok(distance(call('ptlite::from_blocked', y, int(c.outputs)), values, w.length / c.outputs) < 2, JSON.stringify(c))
  }
  t.end()
})

t.test('any number of threads gives the same bits', (t) => {
  const x = toBlocks(random.data(32 * 6 * 20 * 20), [1, 32, 6, 20, 20])
  const weight = real(random.data(48 * 32 * 27), [48, 32, 3, 3, 3], 'float32')
  const limits = [limit(-Infinity), limit(Infinity)]
  const [one, two] = [ints([1, 1, 1]), ints([2, 2, 2])]
  const run = (): unknown[] => [
    ...[one, two].map((stride) =>
      call('ptlite::blocked_convolution', x, call('ptlite::blocked_filter', weight), null, null, stride, one, one, ...limits).toArray(),
    ),
    call('ptlite::winograd_convolution', x, call('ptlite::winograd_filter', weight), null, null, one, ...limits).toArray(),
  ]
  const before = getNumThreads()
  setNumThreads(1)
  const want = run()
  setNumThreads(3)
  t.strictSame(run(), want)
  setNumThreads(before)
  t.end()
})

t.test('convolutions of 3x3 by F(4x4, 3x3)', (t) => {
  let worst = 0
  for (let round = 0; round < 110; round++) {
    const volume = round >= 60
    const depth = volume ? [random.pick([1, 2, 4, 7])] : []
    const slices = depth.map((size) => random.pick([1, 2, 3].filter((k) => k <= size)))
    const c = {
      batch: random.pick([1, 1, 2]),
      channels: random.pick(CHANNELS),
      outputs: random.pick(CHANNELS),
      size: [...depth, random.pick([3, 4, 7, 9, 30]), random.pick([3, 6, 8, 13, volume ? 14 : 61])],
      kernel: [...slices, 3, 3],
      stride: [...slices.map(() => 1), 1, 1],
      padding: [...slices.map(() => random.pick([0, 1, 3])), random.pick([0, 1, 2]), random.pick([0, 1, 3])],
      dilation: [...slices.map(() => 1), 1, 1],
    }
    const x = random.data(c.batch * c.channels * count(c.size))
    const w = random.data(c.outputs * c.channels * count(c.kernel))
    const b = random.data(c.outputs)
    const free = expected(c, { x, w, b }, 1, -Infinity, Infinity)
    const r = round % 2 === 0 ? random.data(free.values.length) : undefined
    const { values, shape } = expected(c, { x, w, b }, 1, -5, 5.5, r)
    const filter = call('ptlite::winograd_filter', real(w, [c.outputs, c.channels, ...c.kernel], 'float32'))
    const input = toBlocks(x, [c.batch, c.channels, ...c.size])
    const residual = r === undefined ? null : toBlocks(r, shape)
    const y = call('ptlite::winograd_convolution', input, filter, lanes(b), residual, ints(c.padding), limit(-5), limit(5.5))
    const found = call('ptlite::from_blocked', y, int(c.outputs))
    t.strictSame(found.shape, shape)
    const scale = Math.max(...Array.from(free.values, Math.abs))
    const error = Math.max(...Array.from(found.data() as Float32Array, (v, i) => Math.abs(v - values[i]!))) / scale
    worst = Math.max(worst, error)
    t.ok(error < 2e-5, `${error} of the largest value: ${JSON.stringify(c)}`)
  }
  t.comment(`at most ${worst} of the largest value`)
  t.end()
})

t.test('convolutions in groups', (t) => {
  const shapes = [
    [2, 4, 4],
    [9, 4, 4],
    [5, 8, 8],
    [3, 16, 16],
    [2, 32, 48],
    [5, 24, 24],
    [3, 12, 8],
    [2, 5, 40],
    [7, 3, 3],
    [20, 1, 2],
  ] as const
  for (let round = 0; round < 90; round++) {
    const [groups, inputs, outputs] = shapes[round % shapes.length]!
    const c = { ...(round < 60 ? randomCase() : randomVolume()), channels: groups * inputs, outputs: groups * outputs }
    const x = random.data(c.batch * c.channels * count(c.size))
    const w = random.data(c.outputs * inputs * count(c.kernel))
    const b = random.data(c.outputs)
    const free = expected(c, { x, w, b }, groups, -Infinity, Infinity)
    const r = round % 2 === 0 ? random.data(free.values.length) : undefined
    const { values, shape } = expected(c, { x, w, b }, groups, -1, 1.5, r)
    const filter = call('ptlite::blocked_grouped_filter', real(w, [c.outputs, inputs, ...c.kernel], 'float32'), int(groups))
    const settings = [ints(c.stride), ints(c.padding), ints(c.dilation), int(groups), int(inputs), int(outputs), limit(-1), limit(1.5)]
    const residual = r === undefined ? null : toBlocks(r, shape)
    const input = toBlocks(x, [c.batch, c.channels, ...c.size])
    const y = call('ptlite::blocked_grouped_convolution', input, filter, lanes(b), residual, ...settings)
    const found = call('ptlite::from_blocked', y, int(c.outputs))
    t.strictSame(found.shape, shape)
    t.ok(distance(found, values, inputs * count(c.kernel)) < 2, JSON.stringify({ ...c, groups }))
  }
  t.end()
})

t.test('depthwise convolutions', (t) => {
  for (let round = 0; round < 120; round++) {
    const drawn = randomCase()
    const c = { ...drawn, outputs: drawn.channels }
    const x = random.data(c.batch * c.channels * count(c.size))
    const w = random.data(c.channels * count(c.kernel))
    const b = random.data(c.outputs)
    const { values, shape } = expected(c, { x, w, b }, c.channels, -1, 1.5)
    const filter = call('ptlite::blocked_filter', real(w, [c.outputs, 1, ...c.kernel], 'float32'))
    const settings = [ints(c.stride), ints(c.padding), ints(c.dilation), limit(-1), limit(1.5)]
    const input = toBlocks(x, [c.batch, c.channels, ...c.size])
    const found = call('ptlite::from_blocked', call('ptlite::blocked_depthwise', input, filter, lanes(b), ...settings), int(c.outputs))
    t.strictSame(found.shape, shape)
    t.ok(distance(found, values, count(c.kernel)) < 2, JSON.stringify(c))
  }
  t.end()
})

t.test('pooling', (t) => {
  for (let round = 0; round < 60; round++) {
    const depth = round < 40 ? [] : [random.pick([2, 3, 6])]
    const dims = depth.length + 2
    const one = ints(new Array<number>(dims).fill(1))
    const shape = [random.pick([1, 2]), random.pick(CHANNELS), ...depth, random.pick([5, 8, 13]), random.pick([5, 9, 16])]
    const x = random.data(count(shape))
    if (round % 5 === 0) x[3] = NaN
    const window = ints([...depth.map(() => random.pick([1, 2])), random.pick([2, 3]), random.pick([2, 3])])
    const padding = ints([...depth.map(() => random.pick([0, Math.floor(Number(window[0]) / 2)])), random.pick([0, 1]), 1])
    const stride = ints([...depth.map(() => random.pick([1, 2])), random.pick([1, 2]), 2])
    const ceil = random.pick([true, false])
    const blocked = toBlocks(x, shape)
    const planes = real(x, shape, 'float32')
    const back = (y: Tensor): Tensor => call('ptlite::from_blocked', y, int(shape[1]!))
    const name = JSON.stringify({ shape, window, padding, stride, ceil })
    const most = call(`aten::max_pool${dims}d`, planes, window, stride, padding, one, ceil)
    t.strictSame(back(call('ptlite::blocked_max_pool', blocked, window, stride, padding, one, ceil)).toArray(), most.toArray(), name)
    if (round % 5 === 0) continue
    const whole = random.pick([true, false])
    const mean = call(`aten::avg_pool${dims}d`, real(x, shape, 'float64'), window, stride, padding, ceil, whole, null)
    const found = back(call('ptlite::blocked_avg_pool', blocked, window, stride, padding, ceil, whole))
    t.strictSame(found.shape, mean.shape)
    t.ok(distance(found, mean.data() as Float64Array, 9) < 1, `${name} ${whole}`)
    const all = call(`aten::adaptive_avg_pool${dims}d`, real(x, shape, 'float64'), one)
    t.ok(distance(call('ptlite::blocked_mean', blocked, int(shape[1]!)), all.data() as Float64Array, 16) < 1, name)
  }
  t.end()
})

t.test('squeeze and excitation', (t) => {
  const gates = ['none', 'relu', 'relu6', 'silu', 'hardswish', 'sigmoid', 'hardsigmoid']
  for (let round = 0; round < 40; round++) {
    const [n, c, hidden] = [random.pick([1, 2]), random.pick(CHANNELS), random.pick([1, 4, 16, 23])]
    const shape = [n, c, random.pick([1, 3, 7]), random.pick([1, 7, 12])]
    const data = {
      x: random.data(count(shape)),
      s: random.data(hidden * c),
      e: random.data(c * hidden),
      a: random.data(hidden),
      b: random.data(c),
    }
    const [activation, gate] = [round % gates.length, random.pick([0, 1, 2, 3, 4, 5, 6])]
    const bias = random.pick([true, false])
    const exact = (values: Float64Array, ...sizes: number[]): Tensor => real(values, sizes, 'float64')
    const layer = (x: Tensor, w: Tensor, b: Tensor, index: number): Tensor => {
      const y = call('aten::conv2d', x, w, bias ? b : null)
      return index === 0 ? y : call(`aten::${gates[index]!}`, y)
    }
    const means = call('aten::mean.dim', exact(data.x, ...shape), ints([2, 3]), true)
    const inner = layer(means, exact(data.s, hidden, c, 1, 1), exact(data.a, hidden), activation)
    const want = layer(inner, exact(data.e, c, hidden, 1, 1), exact(data.b, c), gate)
    const filter = (values: Float64Array, ...sizes: number[]): Tensor =>
      call('ptlite::blocked_filter', real(values, [...sizes, 1, 1], 'float32'))
    const found = call(
      'ptlite::blocked_gates',
      toBlocks(data.x, shape),
      int(c),
      filter(data.s, hidden, c),
      bias ? lanes(data.a) : null,
      filter(data.e, c, hidden),
      bias ? lanes(data.b) : null,
      int(activation),
      int(gate),
    )
    t.strictSame(found.shape, [n, Math.ceil(c / BLOCK), 1, 1, BLOCK])
    const back = call('ptlite::from_blocked', found, int(c))
    t.ok(distance(back, want.data() as Float64Array, c + hidden) < 2, `${n} ${c} ${hidden} ${gates[activation]!} ${gates[gate]!}`)
  }
  t.end()
})

t.test('filters with a factor per input', (t) => {
  for (const [inputs, outputs] of [
    [1, 3],
    [16, 16],
    [33, 40],
  ] as const) {
    const [w, by] = [random.data(inputs * outputs), random.data(inputs)]
    const filter = call('ptlite::blocked_filter', real(w, [outputs, inputs, 1, 1], 'float32'))
    const found = call('ptlite::blocked_scaled_filter', filter, toBlocks(by, [1, inputs, 1, 1]))
    const scaled = w.map((v, i) => Math.fround(v) * Math.fround(by[i % inputs]!))
    const want = call('ptlite::blocked_filter', real(scaled, [outputs, inputs, 1, 1], 'float32'))
    t.strictSame(found.toArray(), want.toArray())
  }
  t.end()
})

t.test('a NaN passes the limits', (t) => {
  const x = toBlocks(Float64Array.of(NaN, 1), [1, 1, 1, 2])
  const filter = call('ptlite::blocked_filter', real(Float64Array.of(1), [1, 1, 1, 1], 'float32'))
  const none = [ints([1, 1]), ints([0, 0]), ints([1, 1]), limit(0), limit(6)]
  for (const y of [
    call('ptlite::blocked_convolution', x, filter, null, null, ...none),
    call('ptlite::blocked_depthwise', x, filter, null, ...none),
  ]) {
    t.strictSame(call('ptlite::from_blocked', y, int(1)).toArray(), [[[[NaN, 1]]]])
  }
  t.end()
})

t.test('what does not fit together is refused', (t) => {
  const x = toBlocks(random.data(17 * 4), [1, 17, 2, 2])
  const filter = call('ptlite::blocked_filter', real(random.data(16 * 16), [16, 16, 1, 1], 'float32'))
  const settings = [ints([1, 1]), ints([0, 0]), ints([1, 1]), limit(-Infinity), limit(Infinity)]
  const refused = (name: string, ...args: Input[]): void => void t.throws(() => callOperator(name, args), { code: 'INVALID_ARGUMENT' })
  refused('ptlite::blocked_convolution', x, filter, null, null, ...settings)
  refused('ptlite::blocked_depthwise', x, filter, null, ...settings)
  refused('ptlite::from_blocked', x, int(40))
  refused('ptlite::blocked_mean', x, int(16))
  refused('ptlite::to_blocked', real(random.data(8), [2, 2, 2], 'float32'))
  const gates = (...numbers: number[]): Input[] => [null, filter, null, ...ints(numbers)]
  refused('ptlite::blocked_scaled_filter', filter, toBlocks(random.data(17), [1, 17, 1, 1]))
  refused('ptlite::blocked_scaled_filter', filter, toBlocks(random.data(32), [2, 16, 1, 1]))
  refused('ptlite::blocked_gates', x, int(17), filter, ...gates(0, 0))
  refused('ptlite::blocked_gates', x, int(40), filter, ...gates(0, 0))
  refused('ptlite::blocked_gates', toBlocks(random.data(64), [1, 16, 2, 2]), int(16), filter, ...gates(0, 7))
  refused('ptlite::blocked_rows', x, int(40))
  const one = toBlocks(random.data(16 * 4), [1, 16, 2, 2])
  const [stride, padding, dilation, min, max] = settings as [number[], number[], number[], Input, Input]
  refused('ptlite::blocked_convolution', one, filter, lanes(random.data(17)), null, ...settings)
  refused('ptlite::blocked_convolution', one, filter, null, x, ...settings)
  refused('ptlite::blocked_convolution', one, filter, null, null, ints([0, 1]), padding, dilation, min, max)
  refused('ptlite::blocked_convolution', one, filter, null, null, stride, ints([-1, 0]), dilation, min, max)
  const grouped = call('ptlite::blocked_grouped_filter', real(random.data(16 * 8), [16, 8, 1, 1], 'float32'), int(2))
  refused('ptlite::blocked_grouped_filter', real(random.data(16 * 8), [16, 8, 1, 1], 'float32'), int(3))
  for (const [groups, inputs, outputs] of [
    [1, 16, 16],
    [2, 8, 16],
    [2, 16, 8],
    [4, 4, 4],
    [0, 8, 8],
    [2, -8, 8],
  ]) {
    const places = [stride, padding, dilation, int(groups!), int(inputs!), int(outputs!), min, max]
    refused('ptlite::blocked_grouped_convolution', one, grouped, null, null, ...places)
  }
  const three = call('ptlite::winograd_filter', real(random.data(16 * 16 * 9), [16, 16, 3, 3], 'float32'))
  refused('ptlite::winograd_filter', real(random.data(64), [1, 1, 8, 8], 'float32'))
  refused('ptlite::winograd_convolution', one, three, null, null, padding, min, max)
  refused('ptlite::winograd_convolution', x, three, null, null, ints([1, 1]), min, max)
  refused('ptlite::winograd_convolution', one, three, null, x, ints([1, 1]), min, max)
  refused('ptlite::blocked_max_pool', one, ints([3, 3]), ints([1, 1]), ints([0, 0]), ints([1, 1]), false)
  t.end()
})

atEveryLevel(t, import.meta.url)
