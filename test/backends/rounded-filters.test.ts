import t from 'tap'
import { JitAlgorithm, WeightFormat } from '../../runtime/native/generated/kernels.js'
import { roundedFilter, roundedRows } from '../../runtime/operators/support/rounded-weight.js'
import type { Rounding } from '../../runtime/tensor/storage.js'
import { callOperator, type Input, int, setNumThreads, type Tensor, tensor } from '../../src/index.js'
import { Random } from '../native/fixtures/random.js'
import { asBytes, furthest } from '../support/products.js'

/** Convolutions with filters in few bits against their definition in double precision: 32 channels of a pixel are rounded together, where bytes are multiplied. */

const random = new Random(12)
const uniform = (count: number, scale = 1): Float32Array =>
  Float32Array.from({ length: count }, () => scale * (random.next() + random.next() + random.next() - 1.5))

const FORMATS: readonly (readonly [string, Rounding])[] = [
  ['bfloat16', { format: WeightFormat.bfloat16, group: 0, bytes: false }],
  ['bfloat16 by bfloat16', { format: WeightFormat.bfloat16, group: 0, bytes: true }],
  ['float16', { format: WeightFormat.float16, group: 0, bytes: false }],
  ...([0, 64] as const).flatMap((group) =>
    [true, false].map((bytes) => [`int8, ${group}, ${bytes ? 'bytes' : 'floats'}`, { format: WeightFormat.int8, group, bytes }] as const),
  ),
  ...[true, false].map((bytes) => [`int4, ${bytes ? 'bytes' : 'floats'}`, { format: WeightFormat.int4, group: 32, bytes }] as const),
]

interface Geometry {
  readonly name: string
  readonly input: readonly number[]
  readonly filter: readonly number[]
  readonly stride: readonly number[]
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
}

const all = (rank: number, stride: number, padding: number, dilation: number) => ({
  stride: new Array<number>(rank).fill(stride),
  padding: new Array<number>(rank).fill(padding),
  dilation: new Array<number>(rank).fill(dilation),
})

const GEOMETRIES: readonly Geometry[] = [
  { name: 'pointwise', input: [2, 40, 7, 9], filter: [33, 40, 1, 1], ...all(2, 1, 0, 1) },
  { name: 'pointwise, many pixels', input: [1, 64, 23, 29], filter: [48, 64, 1, 1], ...all(2, 1, 0, 1) },
  { name: 'pointwise of single pixels', input: [3, 96, 1, 1], filter: [20, 96, 1, 1], ...all(2, 1, 0, 1) },
  { name: 'pointwise with padding', input: [1, 32, 3, 3], filter: [16, 32, 1, 1], ...all(2, 2, 1, 1) },
  { name: '3x3', input: [1, 32, 12, 13], filter: [40, 32, 3, 3], ...all(2, 1, 1, 1) },
  { name: '3x3, stride 2, few pixels, many channels', input: [2, 35, 5, 4], filter: [130, 35, 3, 3], ...all(2, 2, 1, 1) },
  { name: '3x3, dilated', input: [1, 33, 9, 9], filter: [16, 33, 3, 3], ...all(2, 1, 2, 2) },
  { name: 'uneven', input: [1, 32, 6, 17], filter: [17, 32, 2, 5], stride: [1, 3], padding: [0, 2], dilation: [2, 1] },
  { name: 'signals', input: [2, 48, 150], filter: [24, 48, 3], ...all(1, 2, 1, 1) },
  { name: 'volumes', input: [1, 32, 3, 4, 5], filter: [16, 32, 2, 3, 3], stride: [1, 1, 2], padding: [1, 1, 1], dilation: [1, 1, 1] },
]

const product = (list: readonly number[]): number => list.reduce((a, b) => a * b, 1)

/** [n, channels, pixels] in another order, [n, pixels, channels]. */
function channelsLast(data: ArrayLike<number>, n: number, channels: number): Float32Array {
  const pixels = data.length / n / channels
  return Float32Array.from({ length: data.length }, (_, i) => {
    const [c, p, image] = [i % channels, Math.floor(i / channels) % pixels, Math.floor(i / channels / pixels)]
    return data[(image * channels + c) * pixels + p]!
  })
}

function bfloat16(x: Float32Array): Float32Array {
  const rounded = callOperator('aten::to.dtype', [tensor(x, [x.length]), 'bfloat16']) as Tensor
  return (callOperator('aten::to.dtype', [rounded, 'float32']) as Tensor).data() as Float32Array
}

/** The numbers [n, pixels, channels] that products see. */
function seenBy({ format, bytes }: Rounding, x: Float32Array, [n, channels]: readonly number[]): ArrayLike<number> {
  const rows = channelsLast(x, n!, channels!)
  if (!bytes) return rows
  return format === WeightFormat.bfloat16 ? bfloat16(rows) : asBytes(rows, channels!)
}

/** The convolution of `seen` [n, pixels, channels] with rows of taps of `width` numbers. */
function convolution(g: Geometry, seen: ArrayLike<number>, rows: ArrayLike<number>, bias: Float32Array | null): Float64Array {
  const [n, channels, ...sizes] = g.input as [number, number, ...number[]]
  const [outputs, , ...kernel] = g.filter as [number, number, ...number[]]
  const out = sizes.map((size, d) => Math.floor((size + 2 * g.padding[d]! - g.dilation[d]! * (kernel[d]! - 1) - 1) / g.stride[d]!) + 1)
  const [pixels, taps] = [product(out), product(kernel)]
  const width = rows.length / outputs / taps
  const result = new Float64Array(n * outputs * pixels)
  const places = (index: number, of: readonly number[]): number[] =>
    of.map((size, d) => Math.floor(index / product(of.slice(d + 1))) % size)
  for (let p = 0; p < pixels; p++) {
    const at = places(p, out)
    for (let tap = 0; tap < taps; tap++) {
      const from = places(tap, kernel).map((k, d) => at[d]! * g.stride[d]! - g.padding[d]! + k * g.dilation[d]!)
      if (from.some((x, d) => x < 0 || x >= sizes[d]!)) continue
      const pixel = from.reduce((sum, x, d) => sum * sizes[d]! + x, 0)
      for (let image = 0; image < n; image++) {
        const x = (image * product(sizes) + pixel) * channels
        for (let o = 0; o < outputs; o++) {
          const w = (o * taps + tap) * width
          let sum = 0
          for (let c = 0; c < channels; c++) sum += seen[x + c]! * rows[w + c]!
          result[(image * outputs + o) * pixels + p]! += sum
        }
      }
    }
  }
  if (bias !== null) for (let i = 0; i < result.length; i++) result[i]! += bias[Math.floor(i / pixels) % outputs]!
  return result
}

function filterOf(data: Float32Array, shape: readonly number[], rounding: Rounding): Tensor {
  const filter = tensor(data, [...shape])
  filter.storage.rounding = rounding
  return filter
}

const call = (name: string, ...args: Input[]): Tensor => callOperator(name, args) as Tensor
const settings = ({ stride, padding, dilation }: Geometry): Input[] => [[...stride], [...padding], [...dilation], int(1)]

for (const [name, rounding] of FORMATS) {
  t.test(`${name}: convolutions`, async (t) => {
    t.teardown(() => setNumThreads(1))
    for (const g of GEOMETRIES) {
      const [x, w, b] = [uniform(product(g.input)), uniform(product(g.filter), 0.1), uniform(g.filter[0]!)]
      const filter = filterOf(w, g.filter, rounding)
      const rows = roundedRows(roundedFilter(filter, 1)!, null).data() as Float32Array
      const expected = convolution(g, seenBy(rounding, x, g.input), rows, b)
      // sums of this many terms in float32
      const bound = 2e-6 * product(g.filter.slice(1))
      const args = [tensor(x, [...g.input]), filter, tensor(b, [b.length]), ...settings(g)]
      const operator = `aten::conv${g.stride.length}d`
      const result = call(operator, ...args).data() as Float32Array
      t.ok(furthest(result, expected) < bound, g.name)
      for (const threads of [2, 5]) {
        setNumThreads(threads)
        t.same(call(operator, ...args).data(), result, `${g.name}, the same bits by ${threads} threads`)
      }
      setNumThreads(1)
      const plain = call(operator, args[0]!, filter, null, ...settings(g)).data() as Float32Array
      t.ok(furthest(plain, convolution(g, seenBy(rounding, x, g.input), rows, null)) < bound, `${g.name}, no bias`)
    }
  })

  t.test(`${name}: bounds and steps`, async (t) => {
    const g = GEOMETRIES.find((geometry) => geometry.name === '3x3')!
    const [x, filter] = [tensor(uniform(product(g.input)), [...g.input]), filterOf(uniform(product(g.filter), 0.1), g.filter, rounding)]
    const plain = call('aten::conv2d', x, filter, null, ...settings(g))
    const values = plain.data() as Float32Array
    const convolve = (lo: number, hi: number, ...steps: Input[]): Float32Array =>
      call('ptlite::convolution', x, filter, null, ...settings(g), lo, hi, ...steps).data() as Float32Array
    t.same(
      convolve(-0.25, 0.5, [], [], [], []),
      values.map((v) => Math.min(Math.max(v, -0.25), 0.5)),
    )
    const r = uniform(values.length)
    // value 0, the block, plus value 1
    const sum = convolve(-Infinity, Infinity, [tensor(r, [...plain.shape])], [JitAlgorithm.add], [0, 1], [0, 0])
    const expected = values.map((v, i) => v + r[i]!)
    t.ok(furthest(sum, expected) < 1e-6)
    // a factor for each channel
    const factors = uniform(g.filter[0]!)
    const scaled = convolve(-Infinity, Infinity, [tensor(factors, [factors.length, 1, 1])], [JitAlgorithm.mul], [0, 1], [0, 0])
    const pixels = plain.shape[2]! * plain.shape[3]!
    t.ok(
      furthest(
        scaled,
        values.map((v, i) => v * factors[Math.floor(i / pixels) % factors.length]!),
      ) < 1e-6,
    )
  })
}

t.test('filters that stay floats: of groups, of few channels, of few outputs', async (t) => {
  const rounding = { format: WeightFormat.int4, group: 32, bytes: true }
  const floats = (shape: number[], input: number[], groups: number): void => {
    const [w, x] = [uniform(product(shape)), tensor(uniform(product(input)), input)]
    const args = (filter: Tensor): Input[] => [x, filter, null, [1, 1], [0, 0], [1, 1], int(groups)]
    t.same(call('aten::conv2d', ...args(filterOf(w, shape, rounding))).data(), call('aten::conv2d', ...args(tensor(w, shape))).data())
  }
  floats([32, 1, 3, 3], [1, 32, 5, 5], 32)
  floats([64, 32, 3, 3], [1, 64, 5, 5], 2)
  floats([32, 16, 3, 3], [1, 16, 5, 5], 1)
  floats([8, 64, 1, 1], [1, 64, 5, 5], 1)
})

t.test('a filter with channels last, and one that is written to', async (t) => {
  const rounding = { format: WeightFormat.int8, group: 0, bytes: true }
  const shape = [24, 48, 3, 3]
  const x = tensor(uniform(48 * 36), [1, 48, 6, 6])
  const filter = filterOf(uniform(product(shape), 0.1), shape, rounding)
  const last = call('aten::contiguous', filter, 2)
  last.storage.rounding = rounding
  const run = (w: Tensor): Float32Array => call('aten::conv2d', x, w, null, [1, 1], [1, 1], [1, 1], int(1)).data() as Float32Array
  const before = run(filter)
  t.same(run(last), before)
  callOperator('aten::mul_.Scalar', [filter, int(2)])
  const after = run(filter)
  t.ok(
    furthest(
      after,
      before.map((v) => 2 * v),
    ) < 1e-5,
  )
})

t.test('what is no number stays in its place', async (t) => {
  const shape = [16, 32, 3, 3]
  const data = uniform(32 * 49)
  data[17 * 49 + 24] = NaN
  const filter = filterOf(uniform(product(shape)), shape, { format: WeightFormat.int8, group: 0, bytes: true })
  const result = call('aten::conv2d', tensor(data, [1, 32, 7, 7]), filter, null, [1, 1], [1, 1], [1, 1], int(1)).data() as Float32Array
  for (let o = 0; o < 16; o++) {
    const found = [...result.subarray(o * 49, (o + 1) * 49)].flatMap((v, i) => (Number.isNaN(v) ? [i] : []))
    t.same(found, [16, 17, 18, 23, 24, 25, 30, 31, 32])
  }
})
