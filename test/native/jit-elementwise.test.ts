import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { BINARY, BOUND, COMPILED_ONLY, OF_BITS, OF_BYTES, UNARY } from './jit-reference.js'
import { type Algorithm, compile, type Input, Memory, sampledFloats, type Step, ulps } from './jit-support.js'
import { again } from '../support/again.js'

const FULL: Input = { access: 'full', dtype: DType.float32 }
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
const ready = kernels.jit_info().state === kernels.JitState.ready

/** Runs a kernel on rows of float32 that follow each other without gaps; `accesses` of its inputs, all full where left out. */
function run(handle: number, out: number, inputs: number[], length: number, rows = 1, accesses: readonly Input['access'][] = []): void {
  const step = { full: 4 * length, row: 0, scalar: 0, channel: 4 }
  const in_step = inputs.map((_, i) => step[accesses[i] ?? 'full'])
  kernels.jit_elementwise({ handle, out, in: inputs, rows, length, out_step: 4 * length, in_step })
}

/** The result of float32 steps on float32 inputs of one length. */
function evaluate(handle: number, inputs: readonly Float32Array[]): Float32Array {
  const memory = inputs.map((x) => new Memory(x.byteLength))
  memory.forEach((m, i) => m.write(inputs[i]!))
  const out = new Memory(inputs[0]!.byteLength)
  run(
    handle,
    out.address,
    memory.map((m) => m.address),
    inputs[0]!.length,
  )
  const result = out.read(new Float32Array(inputs[0]!.length))
  for (const m of [...memory, out]) m.free()
  return result
}

const floatResult = (op: Algorithm): boolean =>
  UNARY[op] !== undefined && !op.startsWith('quantize') && !OF_BYTES.includes(op) && !COMPILED_ONLY.includes(op)

await t.test('every algorithm has a reference', (t) => {
  t.same(
    algorithms.filter((op) => UNARY[op] === undefined && BINARY[op] === undefined),
    ['int8_lut', ...OF_BITS],
  )
  t.end()
})

await t.test('every algorithm over the whole range', { skip: ready ? false : 'no code is generated here' }, (t) => {
  const x = sampledFloats(199_967)
  for (const op of algorithms.filter(floatResult)) {
    const p = parametersOf(op)
    const handle = compile([FULL], [{ op, a: 0, p }], DType.float32)
    const got = evaluate(handle, [x])
    let worst = 0
    let at = 0
    for (let i = 0; i < x.length; i++) {
      const distance = ulps(got[i]!, UNARY[op]!(x[i]!, p))
      if (distance > worst) [worst, at] = [distance, i]
    }
    t.ok(worst <= (BOUND[op] ?? 0.5), `${op}: ${worst.toFixed(2)} ULP at ${x[at]}`)
    kernels.jit_release({ handle })
  }
  t.end()
})

await t.test('gelu, closely where it is made of pieces', { skip: ready ? false : 'no code is generated here' }, (t) => {
  // every vector group has elements of several pieces, and some have one below the last piece
  const count = 150_000
  const x = Float32Array.from({ length: count }, (_, i) =>
    i % 97 === 0 ? -4.5 - (i % 1009) / 700 : (12 * ((i * 7919) % count)) / count - 6,
  )
  x.set([NaN, -Infinity, Infinity, -0, 0, -1e-30, 1e-30], 64)
  for (const op of ['gelu_erf', 'gelu_tanh'] as const) {
    const handle = compile([FULL], [{ op, a: 0 }], DType.float32)
    const got = evaluate(handle, [x])
    let worst = 0
    let at = 0
    for (let i = 0; i < x.length; i++) {
      const distance = ulps(got[i]!, UNARY[op]!(x[i]!, []))
      if (distance > worst) [worst, at] = [distance, i]
    }
    t.ok(worst <= BOUND[op]!, `${op}: ${worst.toFixed(2)} ULP at ${x[at]}`)
    kernels.jit_release({ handle })
  }
  t.end()
})

await t.test('rows of two vectors that lie apart, as tiles of products do', { skip: ready ? false : 'no code is generated here' }, (t) => {
  const handle = compile(
    [FULL, FULL, { access: 'channel', dtype: DType.float32 }],
    [
      { op: 'mul', a: 0, b: 2 },
      { op: 'sub', a: 3, b: 1 },
    ],
    DType.float32,
  )
  const value = (i: number): number => (((i * 37) % 101) - 50) / 8
  for (const length of [16, 31, 32, 33]) {
    for (let rows = 0; rows <= 7; rows++) {
      const steps = [length + 3, length + 16, 2]
      const inputs = steps.map((step, k) => Float32Array.from({ length: rows * step + length }, (_, i) => value(i + 1000 * k)))
      const outStep = length + 5
      const memory = inputs.map((data) => new Memory(data.byteLength))
      memory.forEach((m, k) => m.write(inputs[k]!))
      const gap = new Float32Array(8 * outStep).fill(-77)
      const out = new Memory(gap.byteLength)
      out.write(gap)
      const in_step = steps.map((step) => 4 * step)
      kernels.jit_elementwise({ handle, out: out.address, in: memory.map((m) => m.address), rows, length, out_step: 4 * outStep, in_step })
      const got = out.read(new Float32Array(gap.length))
      const want = gap.slice()
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < length; c++) {
          want[r * outStep + c] = inputs[0]![r * steps[0]! + c]! * inputs[2]![r * steps[2]!]! - inputs[1]![r * steps[1]! + c]!
        }
      }
      t.same(got, want, `${rows} x ${length}`)
      for (const m of [...memory, out]) m.free()
    }
  }
  kernels.jit_release({ handle })
  t.end()
})

await t.test('bfloat16: all inputs, rounded to nearest even', { skip: ready ? false : 'no code is generated here' }, (t) => {
  const words = Uint16Array.from({ length: 65536 }, (_, i) => i)
  const wide = new Float32Array(Uint32Array.from(words, (w) => w << 16).buffer)
  const memory = new Memory(words.byteLength)
  const out = new Memory(words.byteLength)
  memory.write(words)
  for (const op of algorithms.filter(floatResult)) {
    const p = parametersOf(op)
    const handle = compile([{ access: 'full', dtype: DType.bfloat16 }], [{ op, a: 0, p }], DType.bfloat16)
    run(handle, out.address, [memory.address], words.length)
    const got = new Float32Array(Uint32Array.from(out.read(new Uint16Array(words.length)), (w) => w << 16).buffer)
    // what the float32 kernel gives, rounded once
    const single = compile([FULL], [{ op, a: 0, p }], DType.float32)
    const want = evaluate(single, [wide])
    const bits = new Uint32Array(want.buffer)
    let wrong = 0
    for (let i = 0; i < words.length; i++) {
      const rounded = Number.isNaN(want[i]!)
        ? NaN
        : new Float32Array(Uint32Array.of(((bits[i]! + 0x7fff + ((bits[i]! >>> 16) & 1)) & 0xffff0000) >>> 0).buffer)[0]!
      if (!Object.is(got[i], rounded)) wrong++
    }
    t.equal(wrong, 0, op)
    kernels.jit_release({ handle })
    kernels.jit_release({ handle: single })
  }
  for (const m of [memory, out]) m.free()
  t.end()
})

await t.test('quantize, look up and dequantize', { skip: ready ? false : 'no code is generated here' }, (t) => {
  const x = Float32Array.from({ length: 777 }, (_, i) => (i - 388) * 0.037)
  const source = new Memory(x.byteLength)
  source.write(x)
  for (const [op, type, array] of [
    ['quantize_u8', DType.uint8, Uint8Array],
    ['quantize_s8', DType.int8, Int8Array],
  ] as const) {
    const p = parametersOf(op)
    const handle = compile([FULL], [{ op, a: 0, p }], type)
    const out = new Memory(x.length)
    run(handle, out.address, [source.address], x.length)
    t.same(
      [...out.read(new array(x.length))],
      [...x].map((v) => UNARY[op]!(v, p)),
      op,
    )
    const back = compile([{ access: 'full', dtype: type }], [{ op: 'dequantize', a: 0, p }], DType.float32)
    const floats = new Memory(x.byteLength)
    run(back, floats.address, [out.address], x.length)
    t.same(
      [...floats.read(new Float32Array(x.length))],
      [...out.read(new array(x.length))].map((q) => Math.fround(Math.fround(q - p[0]!) * p[2]!)),
      `dequantize ${op}`,
    )
    // every byte through a table
    const table = Uint8Array.from({ length: 256 }, (_, i) => (i * 37 + 11) & 255)
    const lut = new Memory(256)
    lut.write(table)
    const all = array.from(Array.from({ length: 256 }, (_, i) => i))
    const bytes = new Memory(256)
    bytes.write(all)
    const looked = compile(
      [{ access: 'full', dtype: type }],
      [{ op: 'int8_lut', a: 0, p: [type === DType.int8 ? 1 : 0] }],
      type,
      lut.address,
    )
    run(looked, bytes.address, [bytes.address], 256)
    t.same([...bytes.read(new array(256))], [...array.from(table)], `table of ${op}`)
    for (const h of [handle, back, looked]) kernels.jit_release({ handle: h })
    for (const m of [out, floats, lut, bytes]) m.free()
  }
  source.free()
  t.end()
})

await t.test('every tail, unaligned, in place', { skip: ready ? false : 'no code is generated here' }, (t) => {
  for (const dtype of [DType.float32, DType.bfloat16]) {
    const array = dtype === DType.float32 ? Float32Array : Uint16Array
    const handle = compile([{ access: 'full', dtype }], [{ op: 'neg', a: 0 }], dtype)
    const flip = (v: number): number => (dtype === DType.float32 ? -v : v ^ 0x8000)
    let wrong = 0
    for (let length = 0; length <= 33; length++) {
      for (const offset of [0, array.BYTES_PER_ELEMENT, 3 * array.BYTES_PER_ELEMENT]) {
        for (const inPlace of [false, true]) {
          const memory = new Memory(1024)
          const data = new array(Array.from({ length: 64 }, (_, i) => i + 1))
          memory.write(data)
          memory.write(data, 512)
          const target = inPlace ? memory.address + offset : memory.address + 512 + offset
          run(handle, target, [memory.address + offset], length)
          const got = memory.read(new array(64), inPlace ? 0 : 512)
          const first = offset / array.BYTES_PER_ELEMENT
          const want = data.map((v, i) => (i >= first && i < first + length ? flip(v) : v))
          if (want.some((v, i) => !Object.is(v, got[i]))) wrong++
          memory.free()
        }
      }
    }
    t.equal(wrong, 0)
    kernels.jit_release({ handle })
  }
  t.end()
})

let seed = 12345
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

await t.test('random chains and graphs against double precision', { skip: ready ? false : 'no code is generated here' }, (t) => {
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
  const accesses = ['full', 'scalar', 'row', 'channel'] as const
  let wrong = 0
  for (let round = 0; round < 150; round++) {
    const rows = 1 + Math.floor(random() * 4)
    const length = 1 + Math.floor(random() * 70)
    const inputs: Input[] = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) => ({
      access: i === 0 ? 'full' : pick(accesses),
      dtype: DType.float32,
    }))
    const steps: Step[] = []
    for (let i = 0; i < 1 + Math.floor(random() * 6); i++) {
      const known = inputs.length + steps.length
      const op = random() < 0.5 && known > 1 ? pick(joined) : pick(smooth)
      steps.push({ op, a: i === 0 ? 0 : Math.floor(random() * known), b: Math.floor(random() * known), p: parametersOf(op) })
    }
    const handle = compile(inputs, steps, DType.float32)
    if (handle === 0) {
      wrong++
      continue
    }
    const sizes = inputs.map(({ access }) =>
      access === 'full' ? rows * length : access === 'row' ? length : access === 'channel' ? rows : 1,
    )
    const data = sizes.map((n) => Float32Array.from({ length: n }, () => random() * 6 - 3))
    const memory = data.map((d) => new Memory(d.byteLength))
    memory.forEach((m, i) => m.write(data[i]!))
    const out = new Memory(rows * length * 4)
    run(
      handle,
      out.address,
      memory.map((m) => m.address),
      length,
      rows,
      inputs.map(({ access }) => access),
    )
    const got = out.read(new Float32Array(rows * length))
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < length; c++) {
        const at = { full: r * length + c, scalar: 0, row: c, channel: r }
        const values = inputs.map(({ access }, i) => data[i]![at[access]]!)
        for (const { op, a, b, p } of steps) values.push(UNARY[op]?.(values[a]!, p!) ?? BINARY[op]!(values[a]!, values[b!]!))
        const want = values.at(-1)!
        if (Math.abs(got[r * length + c]! - want) > 2e-5 * Math.max(1, Math.abs(want), ...values.map(Math.abs))) wrong++
      }
    }
    kernels.jit_release({ handle })
    for (const m of [...memory, out]) m.free()
  }
  t.equal(wrong, 0)
  t.end()
})

await t.test('equal graphs share their code, which goes with the last user', { skip: ready ? false : 'no code is generated here' }, (t) => {
  const before = kernels.jit_info()
  const make = (alpha: number): number => compile([FULL], [{ op: 'linear', a: 0, p: [alpha, 0.5] }], DType.float32)
  const [a, b, c] = [make(7), make(7), make(8)]
  t.equal(a, b)
  t.not(a, c)
  t.equal(kernels.jit_info().kernels, before.kernels + 2)
  t.ok(kernels.jit_info().bytes > before.bytes)
  for (const handle of [a, b, c]) kernels.jit_release({ handle })
  t.same(kernels.jit_info(), before)
  t.end()
})

await t.test('graphs that cannot be compiled give no handle', (t) => {
  const one = (step: Partial<Step>, out: DType = DType.float32): number => compile([FULL], [{ op: 'exp', a: 0, ...step }], out)
  t.equal(one({ a: 1 }), 0, 'a value before it exists')
  t.equal(one({ op: 'dequantize' }), 0, 'floats where bytes are taken')
  t.equal(one({ op: 'int8_lut' }), 0, 'no table')
  t.equal(one({ op: 'add', b: -3 }), 0, 'no second operand')
  t.equal(one({}, DType.int64), 0, 'a dtype that is not known')
  t.equal(compile([], [{ op: 'exp', a: 0 }], DType.float32), 0, 'no input')
  t.end()
})

again(
  t,
  import.meta.url,
  { ATEN_CPU_CAPABILITY: 'avx2' },
  { PTLITE_JIT: 'deny', PTLITE_JIT_EXPECT: 'no_memory' },
  { PTLITE_JIT: '0', PTLITE_JIT_EXPECT: 'off' },
)
const expected = (process.env['PTLITE_JIT_EXPECT'] ?? 'ready') as keyof typeof kernels.JitState
await t.test('the state is told', (t) => {
  if (expected !== 'ready' || kernels.jit_info().state !== kernels.JitState.no_instructions)
    t.equal(kernels.jit_info().state, kernels.JitState[expected])
  if (expected !== 'ready') t.equal(compile([FULL], [{ op: 'exp', a: 0 }], DType.float32), 0)
  t.end()
})
