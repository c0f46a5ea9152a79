import t from 'tap'
import { callOperator, float, tensor, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'

// Numbers at the ends of their types, and arguments that a hostile file may give: what C++ leaves open is defined here.

type Wide = readonly bigint[]

const call = (op: string, ...args: unknown[]): Tensor => callOperator(`aten::${op}`, args as never[]) as Tensor
const longs = (x: Tensor): bigint[] => Array.from(x.data() as BigInt64Array)
const wrapped = (values: Wide): bigint[] => values.map((v) => BigInt.asIntN(64, v))

const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n
const ENDS: Wide = [LEAST, MOST, -1n, 0n, 1n, 2n ** 62n, LEAST + 1n, 7n, -3n, MOST - 1n, 5n]
const OTHERS: Wide = [MOST, MOST, LEAST, LEAST, LEAST, 2n ** 62n, LEAST + 1n, -9n, 2n ** 63n - 5n, LEAST, 11n]
const int64 = (values: Wide, shape = [values.length]): Tensor => tensor(BigInt64Array.from(values), shape)

t.test('integers of 64 bits wrap around', (t) => {
  const x = int64(ENDS)
  const y = int64(OTHERS)
  const pairs = (f: (a: bigint, b: bigint) => bigint): bigint[] => wrapped(ENDS.map((a, i) => f(a, OTHERS[i]!)))
  t.strictSame(
    longs(call('add.Tensor', x, y, 1)),
    pairs((a, b) => a + b),
  )
  t.strictSame(
    longs(call('sub.Tensor', x, y, 3)),
    pairs((a, b) => a - 3n * b),
  )
  t.strictSame(
    longs(call('mul.Tensor', x, y)),
    pairs((a, b) => a * b),
  )
  t.strictSame(longs(call('neg', x)), wrapped(ENDS.map((a) => -a)))
  t.strictSame(longs(call('abs', x)), wrapped(ENDS.map((a) => (a < 0n ? -a : a))))
  t.strictSame(longs(call('floor_divide', x, int64(ENDS.map(() => -1n)))), wrapped(ENDS.map((a) => -a)))
  t.strictSame(longs(call('sum', x)), wrapped([ENDS.reduce((a, b) => a + b)]))
  t.strictSame(longs(call('prod', call('bitwise_or.Scalar', x, 1))), wrapped([ENDS.reduce((a, b) => a * (b | 1n), 1n)]))
  const square = int64([...ENDS.slice(0, 8), ...OTHERS.slice(0, 8)], [1, 1, 4, 4])
  const corners = Array.from(square.data() as BigInt64Array)
  const columns = [0, 1, 2, 3].map((c) => [0, 4, 8, 12].reduce((sum, r) => sum + corners[r + c]!, 0n))
  t.strictSame(longs(call('sum.dim_IntList', square, [2], false)), wrapped(columns))
  t.end()
})

t.test('integers of 32 bits and less wrap around', (t) => {
  for (const [type, bits] of [
    [Int32Array, 32],
    [Int16Array, 16],
    [Int8Array, 8],
  ] as const) {
    const least = -(2 ** (bits - 1))
    const values = [least, -least - 1, -1, 0, 1, least + 1, 7, 3, -5]
    const x = tensor(type.from(values))
    const expected = (f: (a: bigint) => bigint): number[] => values.map((a) => Number(BigInt.asIntN(bits, f(BigInt(a)))))
    t.strictSame(
      Array.from(call('add.Tensor', x, x, 1).data(), Number),
      expected((a) => a + a),
    )
    t.strictSame(
      Array.from(call('mul.Tensor', x, x).data(), Number),
      expected((a) => a * a),
    )
    t.strictSame(
      Array.from(call('neg', x).data(), Number),
      expected((a) => -a),
    )
  }
  t.end()
})

t.test('what an integer type does not hold becomes its least number, as on x86', (t) => {
  const x = tensor(Float32Array.of(NaN, Infinity, -Infinity, 1e30, -1e30, 3e9, 1.9, -1.9))
  const to = (dtype: string): number[] => Array.from(call('to.dtype', x, dtype, false, false, null).data(), Number)
  const least = -(2 ** 63)
  t.strictSame(to('int64'), [least, least, least, least, least, 3e9, 1, -1])
  t.strictSame(to('int32'), [...new Array<number>(6).fill(-(2 ** 31)), 1, -1])
  t.end()
})

t.test('scales of a hostile file read nothing outside of the image', (t) => {
  const [height, width] = [5, 7]
  const values = Array.from({ length: 3 * height * width }, (_, i) => i + 1)
  const images = [tensor(Float32Array.from(values), [1, 3, height, width]), tensor(Uint8Array.from(values), [1, 3, height, width])]
  const within = (x: Tensor): boolean =>
    Array.from(call('to.dtype', x, 'float32', false, false, null).data(), Number).every((v) => v !== v || (v >= -60 && v <= 170))
  for (const scale of [1e-300, 1e-30, 5e-324, 1e-12, -1, NaN, Infinity]) {
    const factor = float(scale)
    for (const image of images) {
      t.ok(within(call('upsample_nearest2d', image, [5, 9], factor, factor)), `nearest, ${scale}`)
      t.ok(within(call('_upsample_nearest_exact2d', image, [6, 9], factor, factor)), `nearest exact, ${scale}`)
    }
    for (const image of [images[0]!, call('to.dtype', images[0]!, 'bfloat16', false, false, null)]) {
      t.ok(within(call('upsample_bilinear2d', image, [5, 9], false, factor, factor)), `linear, ${scale}`)
      t.ok(within(call('upsample_bicubic2d', image, [5, 9], false, factor, factor)), `cubic, ${scale}`)
      t.ok(within(call('_upsample_bilinear2d_aa', image, [5, 9], false, factor, factor)), `linear, antialiased, ${scale}`)
    }
  }
  // beyond the last element is the last element
  const far = call('upsample_nearest2d', images[0]!, [1, 3], float(1), float(1e-30))
  t.strictSame(Array.from(far.data(), Number), [1, 7, 7, 36, 42, 42, 71, 77, 77])
  t.end()
})

t.test('zeta and polygamma far below 0 take no step for each whole number on the way', (t) => {
  // values of PyTorch 2.13, which takes them, but for the last: between -2^40 and 9
  const x = [2, 3, 5, 2, 2]
  const q = [-100.5, -100.25, -70.75, -1e6 - 0.5, -(2 ** 40) - 0.5]
  const want = [9.859703491870086, -62.01250410345885, 1020.0656159606373, 9.869603401090357, Math.PI ** 2 - 2 ** -40]
  const got = call('special_zeta', tensor(Float64Array.from(x), [5]), tensor(Float64Array.from(q), [5])).data() as Float64Array
  for (const [i, value] of want.entries()) t.ok(Math.abs(got[i]! / value - 1) < 1e-14, `${got[i]!} for ${x[i]!}, ${q[i]!}`)
  const far = call('polygamma', 65536, tensor(Float64Array.of(-3e9 - 0.25), [1])).data() as Float64Array
  t.ok(Number.isNaN(far[0]) || Math.abs(far[0]!) === Infinity, 'out of range')
  t.end()
})

atEveryLevel(t, import.meta.url)
