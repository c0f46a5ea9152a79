import t from 'tap'
import * as kernels from '../../../runtime/native/generated/kernels.js'
import { ALGORITHMS } from '../../../runtime/native/wasm/emit/algorithms.js'
import { elementwise } from '../../../runtime/native/wasm/emit/elementwise.js'
import type { ElementType, Step } from '../../../runtime/native/wasm/emit/step-graph.js'
import { BINARY, BOUND, OF_BITS, UNARY } from '../../native/jit-reference.js'
import { type Algorithm, sampledFloats, ulps } from '../../native/jit-support.js'
import { type Chain, full, type Operand, run, step } from './chains.js'

const LEVELS = [{ relaxed: false }, { relaxed: true }]
const PARAMETERS: Partial<Record<Algorithm, readonly number[]>> = {
  relu: [Math.fround(0.1)],
  linear: [1.5, 0.25],
  clamp: [-1, 2],
  elu: [Math.fround(1.3)],
  softplus: [1, 20],
  quantize_u8: [128, 0, Math.fround(0.05)],
  quantize_s8: [-3, 0, Math.fround(0.05)],
  dequantize: [128, 0, Math.fround(0.05)],
}
const parametersOf = (op: Algorithm): readonly number[] => PARAMETERS[op] ?? []
const algorithms = Object.keys(kernels.JitAlgorithm) as Algorithm[]
const generated = algorithms.filter((op) => ALGORITHMS[op] !== undefined)
const ofFloats = generated.filter(
  (op) => ALGORITHMS[op]!.unary !== undefined && ALGORITHMS[op]!.takes === 'float' && ALGORITHMS[op]!.gives === 'float',
)

/** Where sums of products are rounded twice, tails of these lose digits, as those of compiled kernels of the same level do. */
const ROUNDED_TWICE: Partial<Record<Algorithm, number>> = { gelu_tanh: 128, gelu_erf: 64, sigmoid: 64, silu: 64 }

/** Whether the processor adds products with one rounding. */
function fuses(): boolean {
  const x = Float32Array.of(1 + 2 ** -12)
  const square = Math.fround(x[0]! * x[0]!)
  const { out } = run({ inputs: [full(x, 1)], steps: [step('linear', 0, 0, [x[0]!, -square])], rows: 1, length: 1 }, { relaxed: true })!
  return out[0] !== 0
}

function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

t.test('all algorithms but tables and sums of doubles', (t) => {
  t.same(
    algorithms.filter((op) => !generated.includes(op)),
    ['int8_lut', 'sin', 'cos'],
  )
  t.same(
    Object.keys(ALGORITHMS).filter((op) => !(op in kernels.JitAlgorithm)),
    [],
  )
  t.end()
})

t.test('every algorithm over the whole range', (t) => {
  const x = sampledFloats(199_967)
  const isFused = fuses()
  for (const level of LEVELS) {
    const isOne = level.relaxed && isFused
    for (const op of ofFloats.filter((name) => !OF_BITS.includes(name))) {
      const p = parametersOf(op)
      const { out } = run({ inputs: [full(x, x.length)], steps: [step(op, 0, 0, p)], rows: 1, length: x.length }, level)!
      let worst = 0
      let at = 0
      for (let i = 0; i < x.length; i++) {
        const want = op === 'linear' && !isOne ? Math.fround(x[i]! * p[0]!) + p[1]! : UNARY[op]!(x[i]!, p)
        const distance = ulps(out[i]!, want)
        if (distance > worst) [worst, at] = [distance, i]
      }
      const bound = (isOne ? undefined : ROUNDED_TWICE[op]) ?? BOUND[op] ?? 0.5
      t.ok(worst <= bound, `${op}: ${worst.toFixed(2)} ULP at ${x[at]}`)
    }
  }
  t.end()
})

t.test('sums, comparisons and bits', (t) => {
  const x = sampledFloats(1_999_993)
  const y = Float32Array.from(x, (v, i) => (i % 5 === 0 ? v : x[(i * 7919 + 3) % x.length]!))
  const compare: Record<string, (a: number, b: number) => boolean> = {
    less: (a, b) => a < b,
    less_equal: (a, b) => a <= b,
    equal: (a, b) => a === b,
    not_equal: (a, b) => a !== b,
  }
  const words = (data: Float32Array): Int32Array => new Int32Array(data.buffer)
  const bits: Record<string, (a: number, b: number) => number> = {
    bits_and: (a, b) => a & b,
    bits_or: (a, b) => a | b,
    bits_and_not: (a, b) => a & ~b,
    bits_not: (a) => ~a,
  }
  for (const op of generated.filter((name) => ALGORITHMS[name]!.binary !== undefined || name === 'bits_not')) {
    const chain = { inputs: [full(x, x.length), full(y, x.length)], steps: [step(op, 0, 1)], rows: 1, length: x.length }
    const out = run(chain, LEVELS[0]!)!.out as Float32Array
    let wrong = 0
    for (let i = 0; i < x.length; i++) {
      if (op in compare) wrong += Number(words(out)[i] !== (compare[op]!(x[i]!, y[i]!) ? -1 : 0))
      else if (op in bits) wrong += Number(words(out)[i] !== bits[op]!(words(x)[i]!, words(y)[i]!))
      else wrong += Number(!(ulps(out[i]!, BINARY[op]!(x[i]!, y[i]!)) <= 0.5))
    }
    t.equal(wrong, 0, op)
  }
  t.end()
})

t.test('every tail, unaligned, in place, and nothing behind it', (t) => {
  for (const dtype of ['float32', 'bfloat16', 'float16', 'bool', 'int8'] as const) {
    const [op, out]: [string, ElementType] =
      dtype === 'bool' ? ['bits_not', 'bool'] : dtype === 'int8' ? ['dequantize', 'float32'] : ['neg', dtype]
    const array = { float32: Float32Array, bfloat16: Uint16Array, float16: Uint16Array, bool: Uint8Array, int8: Int8Array }[dtype]
    const want = (v: number): number =>
      dtype === 'float32' ? -v : dtype === 'bool' ? Number(v === 0) : dtype === 'int8' ? (v - 1) * 2 : v ^ 0x8000
    let wrong = 0
    for (let length = 0; length <= 21; length++) {
      for (const shift of [0, array.BYTES_PER_ELEMENT, 3 * array.BYTES_PER_ELEMENT]) {
        for (const inPlace of dtype === 'int8' ? [false] : [false, true]) {
          const data = new array(Array.from({ length: length + 5 }, (_, i) => (dtype === 'bool' ? (i * 7) % 3 : i + 1)))
          const chain: Chain = {
            inputs: [{ dtype, data, rowStep: 0 }],
            steps: [step(op, 0, 0, [1, 0, 2])],
            rows: 1,
            length,
            out,
            inPlace,
            shift,
          }
          const got = run({ ...chain, outStep: length }, { relaxed: false })!.out
          if (got.length !== length || !got.every((v, i) => Object.is(v, want(data[i]!)))) wrong++
        }
      }
    }
    t.equal(wrong, 0, dtype)
  }
  t.end()
})

t.test('rows that lie apart keep what is between them', (t) => {
  for (const length of [1, 2, 3, 4, 7, 16, 17, 33]) {
    const rows = 5
    const steps = [step('mul', 0, 2), step('sub', 3, 1)]
    const [a, b, c] = [length + 3, length + 8, 2].map((rowStep, k) => ({
      dtype: 'float32' as const,
      data: Float32Array.from({ length: rows * rowStep + length }, (_, i) => ((((i + 1000 * k) * 37) % 101) - 50) / 8),
      rowStep,
      isBroadcast: k === 2,
    })) as [Operand, Operand, Operand]
    const outStep = length + 5
    const { out } = run({ inputs: [a, b, c], steps, rows, length, outStep }, { relaxed: false })!
    const gap = new Float32Array(Uint8Array.of(0x5a, 0x5a, 0x5a, 0x5a).buffer)[0]!
    const want = out.map((_, i) => {
      const [r, col] = [Math.floor(i / outStep), i % outStep]
      if (col >= length) return gap
      return a.data[r * a.rowStep + col]! * c.data[r * c.rowStep]! - b.data[r * b.rowStep + col]!
    })
    t.same(out, want, `rows of ${length}`)
  }
  const none = run({ inputs: [full(new Float32Array(8), 8)], steps: [step('neg', 0)], rows: 0, length: 8 }, { relaxed: false })!
  t.equal(none.out.length, 0)
  t.end()
})

t.test('16-bit floats: all of them, and rounded to nearest even', (t) => {
  const words = Uint16Array.from({ length: 65_536 }, (_, i) => i)
  const value: Record<'bfloat16' | 'float16', (w: number) => number> = {
    bfloat16: (w) => new Float32Array(Uint32Array.of(w << 16).buffer)[0]!,
    float16: (w) => {
      const [sign, exponent, mantissa] = [w & 0x8000 ? -1 : 1, (w >> 10) & 31, w & 1023]
      if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN
      return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25))
    },
  }
  const x = sampledFloats(60_013)
  for (const dtype of ['bfloat16', 'float16'] as const) {
    const round = `round_${dtype}` as const
    const wide = run(
      { inputs: [{ dtype, data: words, rowStep: 0 }], steps: [step('abs', 0)], rows: 1, length: words.length },
      LEVELS[0]!,
    )!.out
    t.equal([...wide].filter((v, i) => !Object.is(v, Math.abs(value[dtype](i)))).length, 0, `${dtype} to float32`)
    // in memory, and as steps
    for (const steps of [[step('clamp', 0, 0, [-Infinity, Infinity])], [step(round, 0)]]) {
      const { out } = run({ inputs: [full(x, x.length)], steps, rows: 1, length: x.length, out: dtype }, LEVELS[0]!)!
      let wrong = 0
      for (let i = 0; i < x.length; i++) wrong += Number(!Object.is(value[dtype](out[i]!), UNARY[round]!(x[i]!, [])))
      t.equal(wrong, 0, `float32 to ${dtype} by ${steps[0]!.op}`)
    }
  }
  t.end()
})

t.test('bytes: quantized and back', (t) => {
  const x = Float32Array.from({ length: 779 }, (_, i) => (i === 5 ? NaN : (i - 388) * 0.037))
  for (const [op, dtype] of [
    ['quantize_u8', 'uint8'],
    ['quantize_s8', 'int8'],
  ] as const) {
    const p = parametersOf(op)
    const { out } = run({ inputs: [full(x, x.length)], steps: [step(op, 0, 0, p)], rows: 1, length: x.length, out: dtype }, LEVELS[0]!)!
    t.same(
      [...out],
      [...x].map((v) => UNARY[op]!(v, p)),
      op,
    )
    const back = run(
      { inputs: [{ dtype, data: out, rowStep: 0 }], steps: [step('dequantize', 0, 0, p)], rows: 1, length: x.length },
      LEVELS[0]!,
    )!
    t.same(
      [...back.out],
      [...out].map((v) => Math.fround(Math.fround(v - p[0]!) * p[2]!)),
      `dequantize ${dtype}`,
    )
  }
  t.end()
})

t.test('random graphs over rows, with outputs of steps, against double precision', (t) => {
  const next = random(12_345)
  const below = (n: number): number => Math.floor(next() * n)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const smooth: Algorithm[] = [
    'tanh',
    'sigmoid',
    'silu',
    'gelu_erf',
    'gelu_tanh',
    'relu',
    'linear',
    'hardswish',
    'clamp',
    'elu',
    'softplus',
    'mish',
    'abs',
  ]
  const joined: Algorithm[] = ['add', 'sub', 'mul', 'max', 'min']
  let wrong = 0
  for (let round = 0; round < 150; round++) {
    const rows = 1 + below(4)
    const length = 1 + below(70)
    const inputs: Operand[] = Array.from({ length: 1 + below(4) }, (_, k) => {
      const isBroadcast = k > 0 && next() < 0.4
      const rowStep = k > 0 && next() < 0.4 ? 0 : isBroadcast ? 1 : length
      return { dtype: 'float32', data: Float32Array.from({ length: rows * length }, () => next() * 6 - 3), rowStep, isBroadcast }
    })
    const steps: Step[] = []
    for (let i = 0; i < 1 + below(8); i++) {
      const known = inputs.length + i
      const op = pick(next() < 0.5 ? joined : smooth)
      const operand = (): number => (joined.includes(op) && next() < 0.2 ? -1 - below(2) : below(known))
      steps.push(step(op, i === 0 ? 0 : operand(), joined.includes(op) ? operand() : 0, PARAMETERS[op] ?? [0.5, 2]))
    }
    const kept = steps.flatMap((_, i) => (next() < 0.2 && i > 0 ? [{ step: i, dtype: 'float32' as const }] : [])).slice(0, 3)
    const got = run({ inputs, steps, rows, length, kept }, pick(LEVELS))!
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < length; c++) {
        const values = inputs.map(({ data, rowStep, isBroadcast }) => data[r * rowStep + (isBroadcast === true ? 0 : c)]!)
        for (const { op, a, b, alpha, beta } of steps) {
          const of = (index: number): number => (index === -1 ? alpha : index === -2 ? beta : values[index]!)
          values.push(UNARY[op as Algorithm]?.(of(a), [alpha, beta, 1]) ?? BINARY[op as Algorithm]!(of(a), of(b)))
        }
        const fits = (out: ArrayLike<number>, want: number): boolean =>
          Math.abs(out[r * length + c]! - want) <= 2e-5 * Math.max(1, Math.abs(want), ...values.map(Math.abs))
        if (!fits(got.out, values.at(-1)!)) wrong++
        kept.forEach(({ step: i }, k) => {
          if (!fits(got.kept[k]!, values[inputs.length + i]!)) wrong++
        })
      }
    }
  }
  t.equal(wrong, 0)
  t.end()
})

t.test('an output in the place of an input that is read late', (t) => {
  const data = Float32Array.from({ length: 37 }, (_, i) => i - 18)
  const other = Float32Array.from({ length: 37 }, (_, i) => i / 4)
  const steps = [step('exp', 1), step('add', 2, 0)]
  const chain = { inputs: [full(data, 37), full(other, 37)], steps, rows: 1, length: 37, kept: [{ step: 0, dtype: 'float32' as const }] }
  const apart = run(chain, LEVELS[0]!)!
  const inPlace = run({ ...chain, inPlace: true }, LEVELS[0]!)!
  t.same(inPlace, apart)
  t.end()
})

t.test('what cannot be generated', (t) => {
  const one = (steps: readonly Step[], out: ElementType = 'float32', kept: { step: number; dtype: ElementType }[] = []): boolean =>
    elementwise({ inputs: [{ dtype: 'float32', isBroadcast: false }], steps, out, kept }, LEVELS[0]!) !== null
  t.ok(one([step('exp', 0)]))
  t.notOk(one([step('exp', 1)]), 'a value before it exists')
  t.notOk(one([step('add', 0, -3)]), 'no second operand')
  t.notOk(one([step('exp', -1)]), 'a number for a step of one operand')
  t.notOk(one([step('dequantize', 0)]), 'floats where bytes are taken')
  t.notOk(one([step('quantize_u8', 0)]), 'bytes where floats go')
  t.notOk(one([step('sin', 0)]), 'no algorithm')
  t.notOk(one([]), 'no steps')
  t.notOk(one(Array.from({ length: 33 }, (_, i) => step('neg', i))), 'too many steps')
  t.ok(one(Array.from({ length: 32 }, (_, i) => step('neg', i))))
  t.notOk(one([step('exp', 0)], 'float32', [{ step: 1, dtype: 'float32' }]), 'a kept step that does not exist')
  t.notOk(
    one([step('exp', 0)], 'float32', [
      { step: 0, dtype: 'float32' },
      { step: 0, dtype: 'bool' },
    ]),
    'a step that is kept twice',
  )
  t.end()
})
