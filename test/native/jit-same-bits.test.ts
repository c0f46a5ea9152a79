import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { OF_BYTES } from './jit-reference.js'
import { type Algorithm, compile, Memory, sampledFloats, type Step } from './jit-support.js'
import { again } from '../support/again.js'

// Generated code and the compiled kernels that stand in for it: one result, whichever runs.

const ready = kernels.jit_info().state === kernels.JitState.ready
const skip = ready ? false : 'no code is generated here'
const PARAMETERS: Partial<Record<Algorithm, readonly number[]>> = {
  relu: [0.1],
  linear: [1.5, 0.25],
  clamp: [-1, 2],
  elu: [1.3],
  softplus: [0.7, 20],
}

interface Operands {
  readonly sizes: readonly number[]
  readonly inputs: readonly Memory[]
  /** Six per input, innermost first. */
  readonly strides: readonly number[]
}

/** Result of kernel fused, as bits; all NaNs are one. */
function fused(steps: readonly Step[], { sizes, inputs, strides }: Operands, code: number, streaming = 0): Uint32Array {
  const count = sizes.reduce((a, b) => a * b, 1)
  const out = new Memory(4 * count)
  kernels.fused({
    inputs: inputs.length,
    steps: steps.length,
    ndim: sizes.length,
    streaming,
    sizes,
    out: out.address,
    in: inputs.map((m) => m.address),
    strides,
    op: steps.map((s) => kernels.JitAlgorithm[s.op]),
    a: steps.map((s) => s.a),
    b: steps.map((s) => s.b ?? 0),
    p0: steps.map((s) => s.p?.[0] ?? 0),
    p1: steps.map((s) => s.p?.[1] ?? 0),
    code,
    out_dtype: DType.float32,
    more: 0,
    kept: [],
    more_dtypes: [],
    more_out: [],
    dtypes: inputs.map(() => DType.float32),
  })
  const floats = out.read(new Float32Array(count))
  out.free()
  const bits = new Uint32Array(floats.buffer)
  for (let i = 0; i < count; i++) if (Number.isNaN(floats[i])) bits[i] = 0x7fc00000
  return bits
}

/** Elements in which the two differ; undefined where the graph needs more registers than there are. */
function differences(steps: readonly Step[], operands: Operands, streaming = 0): number | undefined {
  const access = operands.inputs.map((_, k) => ({
    access: operands.strides[6 * k] === 0 ? ('channel' as const) : ('full' as const),
    dtype: DType.float32,
  }))
  const handle = compile(access, steps, DType.float32, 0, streaming)
  if (handle === 0) return undefined
  const generated = fused(steps, operands, handle, streaming)
  const compiled = fused(steps, operands, 0)
  kernels.jit_release({ handle })
  return generated.reduce((n, v, i) => n + Number(v !== compiled[i]), 0)
}

const floats = (Object.keys(kernels.JitAlgorithm) as Algorithm[]).filter(
  (op) => !op.startsWith('quantize') && !OF_BYTES.includes(op) && op !== 'sin' && op !== 'cos',
)
const isBinary = (op: Algorithm): boolean => kernels.JitAlgorithm[op] >= kernels.JitAlgorithm.add

await t.test('every algorithm, over the whole range', { skip }, (t) => {
  const x = sampledFloats(40_009)
  const y = Float32Array.from(x, (_, i) => x[(i * 7919 + 3) % x.length]!)
  const memory = [x, y].map((data) => {
    const m = new Memory(data.byteLength)
    m.write(data)
    return m
  })
  for (const op of floats) {
    const step: Step = { op, a: 0, b: isBinary(op) ? 1 : 0, p: PARAMETERS[op] ?? [] }
    const inputs = isBinary(op) ? memory : memory.slice(0, 1)
    t.equal(differences([step], { sizes: [x.length], inputs, strides: [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0] }), 0, op)
  }
  for (const m of memory) m.free()
  t.end()
})

let seed = 99
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

await t.test('random graphs over rows, columns and channels that are broadcast', { skip }, (t) => {
  let wrong = 0
  let missing = 0
  for (let round = 0; round < 120; round++) {
    const sizes = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, d) => 1 + Math.floor(random() * (d === 0 ? 67 : 5)))
    const count = sizes.reduce((a, b) => a * b, 1)
    const inputs = Array.from({ length: 1 + Math.floor(random() * 4) }, () => new Memory(4 * count))
    for (const m of inputs) m.write(Float32Array.from({ length: count }, () => random() * 8 - 4))
    const strides = inputs.flatMap((_, k) => {
      let step = 1
      const own = sizes.map((size) => {
        if (k > 0 && random() < 0.4) return 0
        const stride = step
        step *= size
        return stride
      })
      return [...own, ...new Array<number>(6 - own.length).fill(0)]
    })
    // only neighbours, or one for all
    for (let k = 0; k < inputs.length; k++) if (strides[6 * k]! > 1) strides[6 * k] = 0
    const steps: Step[] = []
    for (let i = 0; i < 1 + Math.floor(random() * 6); i++) {
      const known = inputs.length + i
      const op = pick(floats)
      const operand = (): number => (isBinary(op) && random() < 0.2 ? -1 - Math.floor(random() * 2) : Math.floor(random() * known))
      steps.push({ op, a: i === 0 ? 0 : operand(), b: isBinary(op) ? operand() : 0, p: PARAMETERS[op] ?? [0.5, 2] })
    }
    const found = differences(steps, { sizes, inputs, strides })
    if (found === undefined) missing++
    else wrong += Number(found > 0)
    for (const m of inputs) m.free()
  }
  t.equal(wrong, 0)
  t.ok(missing < 10, `${missing} not generated`)
  t.end()
})

await t.test('stores past the caches', { skip }, (t) => {
  const x = Float32Array.from({ length: 40_000 }, (_, i) => i / 5000 - 4)
  const m = new Memory(x.byteLength)
  m.write(x)
  const steps: Step[] = [
    { op: 'linear', a: 0, p: [2, 1] },
    { op: 'tanh', a: 1 },
  ]
  for (const sizes of [[40_000], [39_999], [1600, 25], [5, 7]]) {
    t.equal(differences(steps, { sizes, inputs: [m], strides: [1, sizes[0]!, 0, 0, 0, 0] }, 1), 0, sizes.join(' x '))
  }
  m.free()
  t.end()
})

again(t, import.meta.url, { ATEN_CPU_CAPABILITY: 'avx2' })
