import t from 'tap'
import { roundedLinear, roundedRows, type RoundedWeight } from '../../runtime/operators/support/rounded-weight.js'
import { RowBytes, ScaleFormat, ZeroPoints } from '../../runtime/native/generated/kernels.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { callOperator, float, type Input, int, type Tensor, tensor } from '../../src/index.js'
import { Random } from '../native/fixtures/random.js'
import { type IntegerWeight, integerWeight, type Layout, LAYOUTS, packIntegers } from '../support/integer-weights.js'
import { asBytes, asRows, furthest, productOf, ROW_KINDS } from '../support/products.js'

/** Products with weights that are integers already, against their definition in double precision. */

const random = new Random(23)
const floats = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.next())
/** Held as long as the tests. */
const memory: Storage[] = []

function take(bytes: number): number {
  const storage = Storage.allocate(Math.max(bytes, 1))
  memory.push(storage)
  return storage.address
}

function place(data: Uint8Array): number {
  const storage = Storage.holding(data)
  memory.push(storage)
  return storage.address
}

function packed(layout: Layout, weight: IntegerWeight, bytes: boolean): RoundedWeight {
  const address = packIntegers(layout, weight, { place, take }, (call) => call())
  const { format, group, scale, zero } = layout
  return { format, group, scale, zero, bytes, n: weight.n, k: weight.k, address }
}

const SIZES = [
  [1, 16, 32],
  [3, 33, 64],
  [6, 41, 333],
  [19, 53, 160],
] as const

for (const layout of LAYOUTS) {
  t.test(layout.name, async (t) => {
    for (const [m, n, k] of SIZES) {
      const weight = integerWeight(layout, n, k, (low, high) => random.integer(low, high))
      const [x, b] = [floats(m * k), floats(n)]
      for (const bytes of [false, true]) {
        const held = packed(layout, weight, bytes)
        t.same(roundedRows(held, null).data(), weight.numbers, `${n} x ${k}, rows`)
        const found = roundedLinear(tensor(x, [m, k]), held, tensor(b, [n]), null).data() as Float32Array
        const difference = furthest(found, productOf(bytes ? asBytes(x, k) : x, weight.numbers, k, b))
        t.ok(difference < 1e-6 * k, `${m} x ${n} x ${k}, ${bytes ? 'bytes' : 'floats'}: ${difference}`)
      }
    }
  })
}

/** Rows of several ranges: of both signs, of one, of few numbers that are not zero, of none. */
function rangedRows(m: number, k: number): Float32Array {
  return Float32Array.from({ length: m * k }, (_, i) => {
    const value = random.next() * 4 - 2
    return [value, Math.abs(value) + 1, i % 37 === 0 ? value : 0, -Math.abs(value), 0, value * 1e-9][Math.floor(i / k) % 6]!
  })
}

for (const layout of LAYOUTS.filter(({ scale }) => scale === ScaleFormat.float32)) {
  t.test(`${layout.name}, by rows that are rounded by their own range`, async (t) => {
    for (const [m, n, k] of [...SIZES, [40, 70, 96]] as const) {
      const weight = integerWeight(layout, n, k, (low, high) => random.integer(low, high))
      const [x, b] = [rangedRows(m, k), floats(n)]
      for (const kind of ROW_KINDS) {
        const eps = 2 ** -23
        const rows = { kind: RowBytes[kind], least: -128, eps }
        const found = roundedLinear(
          tensor(x, [m, k]),
          { ...packed(layout, weight, false), rows },
          tensor(b, [n]),
          null,
        ).data() as Float32Array
        const difference = furthest(found, productOf(asRows(x, k, kind, eps), weight.numbers, k, b))
        t.ok(difference < 1e-6 * k, `${m} x ${n} x ${k}, ${kind}: ${difference}`)
      }
    }
  })
}

t.test('the least bytes of a row and of a weight', async (t) => {
  for (const layout of LAYOUTS.filter(({ scale, zero }) => scale === ScaleFormat.float32 && zero === ZeroPoints.none)) {
    const [m, n, k] = [18, 16, 64]
    const weight = integerWeight(layout, n, k, (low) => low)
    const x = Float32Array.from({ length: m * k }, (_, i) => (i % k === 0 ? 0 : -1))
    for (const kind of ROW_KINDS) {
      const rows = { kind: RowBytes[kind], least: -128, eps: 1e-9 }
      const found = roundedLinear(tensor(x, [m, k]), { ...packed(layout, weight, false), rows }, null, null).data() as Float32Array
      const wanted = productOf(asRows(x, k, kind, 1e-9), weight.numbers, k, null)
      t.ok(furthest(found, wanted) < 1e-6 * Math.abs(wanted[0]!), `${layout.name}, ${kind}`)
    }
  }
})

t.test('rows with a number that is not finite, or too wide for a scale, are NaN', async (t) => {
  const layout = LAYOUTS.find(({ name }) => name === 'int8, groups of 0, float32, zero points: none')!
  const [n, k] = [16, 32]
  const weight = integerWeight(layout, n, k, (low, high) => random.integer(low, high))
  for (const kind of ROW_KINDS) {
    for (const [at, value] of [NaN, Infinity, -Infinity].entries()) {
      const x = floats(2 * k)
      x[at] = value
      const rows = { kind: RowBytes[kind], least: -128, eps: 1e-9 }
      const found = roundedLinear(tensor(x, [2, k]), { ...packed(layout, weight, false), rows }, null, null).data() as Float32Array
      t.ok(found.subarray(0, n).every(Number.isNaN), `${kind}, ${value}`)
      t.ok(found.subarray(n).every(Number.isFinite), `${kind}, the row beside ${value}`)
    }
  }
})

const call = (weight: Input[], ...rest: Input[]): Tensor => callOperator('ptlite::integer_linear', [...weight, ...rest]) as Tensor
const NO_LIMITS = [float(-Infinity), float(Infinity)]

t.test('the operator of compiled layers', async (t) => {
  const [m, n, k, group] = [3, 32, 64, 32]
  const groups = k / group
  const integers = Int8Array.from({ length: n * k }, () => random.integer(-8, 7))
  const scales = floats(n * groups)
  const zeros = Int8Array.from({ length: n * groups }, () => random.integer(-8, 7))
  const [x, bias] = [floats(m * k), floats(n)]
  const numbers = (at: (row: number, g: number, q: number) => number): Float64Array =>
    Float64Array.from(integers, (q, i) => at(Math.floor(i / k), Math.floor((i % k) / group), q))
  const affine = numbers((row, g, q) => (q - zeros[row * groups + g]!) * scales[row * groups + g]!)
  const weight = [tensor(x, [m, k]), tensor(integers, [n, k]), tensor(scales, [n, groups]), tensor(zeros, [n, groups])]
  for (const bits of [4, 8]) {
    const found = call(weight, int(bits), int(group), null, int(0), float(0), tensor(bias, [n]), ...NO_LIMITS)
    t.ok(furthest(found.data() as Float32Array, productOf(x, affine, k, bias)) < 1e-4)
  }
  const pairs = Float32Array.from(
    { length: groups * n * 2 },
    (_, i) => scales[(Math.floor(i / 2) % n) * groups + Math.floor(i / (2 * n))]! + (i % 2) / 4,
  )
  const shifted = callOperator('aten::_convert_weight_to_int4pack_for_cpu', [
    tensor(
      Int32Array.from(integers, (q) => q + 8),
      [n, k],
    ),
    int(1),
  ]) as Tensor
  const packing = [tensor(x, [m, k]), shifted, tensor(pairs, [groups, n, 2]), null]
  const offsets = numbers((row, g, q) => {
    const at = 2 * (g * n + row)
    return q * pairs[at]! + pairs[at + 1]!
  })
  const found = call(packing, int(4), int(group), null, int(0), float(0), null, float(-0.5), float(0.5)).data() as Float32Array
  const wanted = productOf(x, offsets, k, null).map((v) => Math.min(Math.max(v, -0.5), 0.5))
  t.ok(furthest(found, wanted) < 1e-4)
})

t.test('what the operator of compiled layers does not take', async (t) => {
  const [x, w, s] = [tensor(floats(64), [1, 64]), tensor(new Int8Array(16 * 64), [16, 64], 'int8'), tensor(floats(32), [16, 2])]
  const layer =
    (weight: Input[], bits: number, group: number, bias: Input = null) =>
    () =>
      call(weight, int(bits), int(group), null, int(0), float(0), bias, ...NO_LIMITS)
  for (const [name, wrong] of Object.entries({
    bits: layer([x, w, s, null], 5, 32),
    group: layer([x, w, s, null], 8, 48),
    scales: layer([x, w, tensor(floats(16), [16]), null], 8, 32),
    zeros: layer([x, w, s, tensor(new Int8Array(16), [16], 'int8')], 8, 32),
    dtype: layer([x, tensor(floats(16 * 64), [16, 64]), s, null], 8, 32),
    input: layer([tensor(floats(32), [1, 32]), w, s, null], 8, 32),
    bias: layer([x, w, s, null], 8, 32, tensor(floats(15))),
    rounding: () => call([x, w, s, null], int(8), int(32), 'blocks', int(-128), float(1e-9), null, ...NO_LIMITS),
    least: () => call([x, w, s, null], int(8), int(32), 'affine', int(0), float(1e-9), null, ...NO_LIMITS),
    eps: () => call([x, w, s, null], int(8), int(32), 'affine', int(-128), float(0), null, ...NO_LIMITS),
  }))
    t.throws(wrong, { code: 'INVALID_ARGUMENT' }, name)
})
