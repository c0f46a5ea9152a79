import t from 'tap'
import { callOperator, tensor, type Tensor } from '../../src/index.js'

const word = new Int32Array(1)
const single = new Float32Array(word.buffer)

/** Distance of two float32 numbers in units in the last place of `want`, a float64. */
function ulps(got: number, want: number): number {
  const rounded = Math.fround(want)
  if (Object.is(got, rounded) || got === rounded || (Number.isNaN(got) && Number.isNaN(want))) return 0
  if (!Number.isFinite(rounded) || !Number.isFinite(got)) return Infinity
  single[0] = Math.abs(rounded)
  word[0]++
  return Math.abs(got - want) / (single[0] - Math.abs(rounded))
}

/** Every 9973rd bit pattern of float32: all magnitudes, both signs, NaN, infinities and denormals. */
function sweep(keep: (x: number) => boolean): Float32Array {
  const xs: number[] = [0, -0, Infinity, -Infinity, NaN, 1, -1, 1e-45, -1e-45]
  for (let bits = -(2 ** 31); bits < 2 ** 31; bits += 99730) {
    word[0] = bits
    xs.push(single[0]!)
  }
  return Float32Array.from(xs.filter(keep))
}

const all = (): boolean => true
const FUNCTIONS: readonly (readonly [string, (x: number) => number, (x: number) => boolean])[] = [
  ['exp', Math.exp, all],
  ['expm1', Math.expm1, all],
  ['log', Math.log, all],
  ['log1p', Math.log1p, all],
  ['log2', Math.log2, all],
  ['log10', Math.log10, all],
  ['tanh', Math.tanh, all],
  ['sin', Math.sin, (x) => Math.abs(x) < 1e15 || !Number.isFinite(x)],
  ['cos', Math.cos, (x) => Math.abs(x) < 1e15 || !Number.isFinite(x)],
  ['sqrt', Math.sqrt, all],
  ['rsqrt', (x) => 1 / Math.sqrt(x), (x) => Math.abs(x) > 1e-37 || x === 0],
  ['sigmoid', (x) => 1 / (1 + Math.exp(-x)), (x) => !(x < -85)],
  ['atan', Math.atan, all],
  ['sinh', Math.sinh, all],
]

t.test('float32 functions are within 2 units in the last place', (t) => {
  for (const [name, exact, keep] of FUNCTIONS) {
    const xs = sweep(keep)
    const got = (callOperator(`aten::${name}`, [tensor(xs)]) as Tensor).data() as Float32Array
    let worst = 0
    let at = 0
    xs.forEach((x, i) => {
      const error = ulps(got[i]!, exact(x))
      if (error > worst) [worst, at] = [error, x]
    })
    t.ok(worst <= 2.01, `${name}: ${worst.toFixed(2)} at ${at}`)
  }
  t.end()
})

t.test('float16 and bfloat16 keep every value and round to nearest even', (t) => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i)
  for (const dtype of ['float16', 'bfloat16'] as const) {
    const x = tensor(bits, [65536], dtype)
    const wide = callOperator('aten::to.dtype', [x, 'float32']) as Tensor
    const back = (callOperator('aten::to.dtype', [wide, dtype]) as Tensor).data() as Uint16Array
    const floats = wide.data() as Float32Array
    t.equal(
      bits.findIndex((b, i) => !Number.isNaN(floats[i]) && back[i] !== b),
      -1,
      `${dtype} round trip`,
    )
    t.ok(
      bits.every((_, i) => !Number.isNaN(floats[i]) || (back[i]! & 0x7fff) > (dtype === 'float16' ? 0x7c00 : 0x7f80)),
      `${dtype} NaN stays NaN`,
    )
  }
  const ties = tensor(new Float32Array([1 + 2 ** -11, 1 + 3 * 2 ** -11, 65519, 65520, 2 ** -25, 2 ** -25 * 1.0001]))
  const half = (callOperator('aten::to.dtype', [ties, 'float16']) as Tensor).data()
  t.strictSame(Array.from(half, Number), [0x3c00, 0x3c02, 0x7bff, 0x7c00, 0, 1])
  t.end()
})
