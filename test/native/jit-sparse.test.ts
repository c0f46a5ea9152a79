import { fileURLToPath } from 'node:url'
import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { BINARY, UNARY } from './jit-reference.js'
import { type Algorithm, Memory, rerun } from './jit-support.js'

let seed = 99
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
const floats = (n: number): Float32Array => Float32Array.from({ length: n }, () => random() * 2 - 1)

interface PostOp {
  readonly op: Algorithm
  readonly access?: 'full' | 'row' | 'scalar'
  readonly p?: readonly number[]
}
interface Case {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly share: number
  readonly bias: boolean
  readonly postOps: readonly PostOp[]
}

/** A weight [n, k] of which about `share` of the blocks of 16 output channels are zero. */
function sparseWeight(n: number, k: number, share: number): Float32Array {
  const w = floats(n * k)
  for (let column = 0; column * 16 < n; column++) {
    for (let i = 0; i < k; i++) {
      if (random() >= share) continue
      for (let row = column * 16; row < Math.min(n, column * 16 + 16); row++) w[row * k + i] = 0
    }
  }
  return w
}

function create(c: Case, weight: number, postOps = c.postOps): ReturnType<typeof kernels.sparse_gemm_create> {
  return kernels.sparse_gemm_create({
    weight,
    n: c.n,
    k: c.k,
    n_stride: c.k,
    k_stride: 1,
    rows: c.m,
    has_bias: Number(c.bias),
    post_ops: postOps.length,
    ops: postOps.map((p) => kernels.JitAlgorithm[p.op]),
    access: postOps.map((p) => kernels.JitAccess[p.access ?? 'full']),
    p0: postOps.map((p) => p.p?.[0] ?? 0),
    p1: postOps.map((p) => p.p?.[1] ?? 0),
    p2: postOps.map((p) => p.p?.[2] ?? 1),
  })
}

/** Largest error of a case, relative to the size of the sums; and what must not have been written to. */
function tryCase(c: Case): { error: number; untouched: boolean; generated: boolean } {
  const w = sparseWeight(c.n, c.k, c.share)
  const x = floats(c.m * c.k)
  const bias = floats(c.n)
  // rows of the output have a gap, which must stay
  const stride = c.n + 3
  const sizes = c.postOps.map((p) => (p.access === 'row' ? c.n : p.access === 'scalar' ? 1 : c.m * c.n))
  const operands = sizes.map(floats)
  const memory = [w, x, bias, ...operands].map((data) => {
    const m = new Memory(data.byteLength)
    m.write(data)
    return m
  })
  const out = new Memory((c.m * stride + 16) * 4)
  out.write(new Float32Array(c.m * stride + 16).fill(12345))
  const { handle, generated } = create(c, memory[0]!.address)
  kernels.sparse_gemm({
    handle,
    x: memory[1]!.address,
    out: out.address,
    bias: c.bias ? memory[2]!.address : 0,
    m: c.m,
    x_stride: c.k,
    out_stride: stride,
    operands: memory.slice(3).map((m) => m.address),
    operand_strides: c.postOps.map(() => c.n),
  })
  const got = out.read(new Float32Array(c.m * stride + 16))
  let error = 0
  let untouched = true
  got.forEach((value, at) => {
    const row = Math.floor(at / stride)
    const column = at % stride
    if (row >= c.m || column >= c.n) {
      untouched &&= value === 12345
      return
    }
    let want = c.bias ? bias[column]! : 0
    for (let i = 0; i < c.k; i++) want += x[row * c.k + i]! * w[column * c.k + i]!
    let size = Math.max(1, Math.abs(want))
    c.postOps.forEach(({ op, access, p }, i) => {
      const operand = operands[i]![access === 'row' ? column : access === 'scalar' ? 0 : row * c.n + column]!
      want = UNARY[op]?.(want, p ?? []) ?? BINARY[op]!(want, operand)
      size = Math.max(size, Math.abs(want))
    })
    error = Math.max(error, Math.abs(value - want) / size)
  })
  kernels.sparse_release({ handle })
  for (const m of [...memory, out]) m.free()
  return { error, untouched, generated: generated !== 0 }
}

await t.test('random shapes and shares of zero blocks against dense sums', (t) => {
  const postOps: PostOp[] = [
    { op: 'relu', p: [Math.fround(0.1)] },
    { op: 'gelu_erf' },
    { op: 'sigmoid' },
    { op: 'add', access: 'full' },
    { op: 'mul', access: 'row' },
    { op: 'max', access: 'scalar' },
    { op: 'clamp', p: [-0.5, 2] },
    { op: 'softplus', p: [1, 20] },
  ]
  let worst = 0
  let overruns = 0
  let generated = 0
  for (let round = 0; round < 160; round++) {
    const c: Case = {
      m: 1 + below(70),
      n: 1 + below(70),
      k: 1 + below(70),
      share: pick([0, 0.3, 0.5, 0.8, 0.95, 1]),
      bias: random() < 0.5,
      postOps: Array.from({ length: below(4) }, () => pick(postOps)),
    }
    const result = tryCase(c)
    worst = Math.max(worst, result.error)
    overruns += Number(!result.untouched)
    generated += Number(result.generated)
  }
  t.ok(worst < 2e-5, `largest relative error ${worst}`)
  t.equal(overruns, 0, 'nothing beside the output is written to')
  const state = kernels.jit_info().state
  t.equal(generated, state === kernels.JitState.ready ? 160 : 0)
  t.end()
})

await t.test('weights whose code takes many parts', (t) => {
  for (const share of [0, 0.7]) {
    const { error, untouched } = tryCase({ m: 37, n: 100, k: 700, share, bias: true, postOps: [{ op: 'gelu_tanh' }, { op: 'add' }] })
    t.ok(error < 2e-5, `${share}: ${error}`)
    t.ok(untouched)
  }
  t.end()
})

await t.test('the sparse form gives the dense weight back', (t) => {
  const [n, k] = [45, 31]
  const w = sparseWeight(n, k, 0.6)
  const memory = new Memory(w.byteLength)
  const back = new Memory(w.byteLength)
  memory.write(w)
  const { handle } = create({ m: 8, n, k, share: 0, bias: false, postOps: [] }, memory.address)
  kernels.sparse_dense({ handle, out: back.address })
  t.same(
    back.read(new Float32Array(w.length)),
    w.map((v) => v + 0),
  )
  kernels.sparse_release({ handle })
  for (const m of [memory, back]) m.free()
  t.end()
})

await t.test('pruning keeps the largest blocks', (t) => {
  const [n, k, width] = [40, 24, 16]
  const w = floats(n * k)
  const memory = new Memory(w.byteLength)
  memory.write(w)
  const shape = { weight: memory.address, n, k, n_stride: k, k_stride: 1, width }
  const { blocks, zero_blocks: before } = kernels.sparse_share(shape)
  t.same([blocks, before], [3 * k, 0])
  const { kept, lost } = kernels.sparse_prune({ ...shape, zeros: 50 })
  t.equal(kernels.sparse_share(shape).zero_blocks, 50)
  const pruned = memory.read(new Float32Array(w.length))
  t.ok(pruned.every((v, i) => v === 0 || v === w[i]))
  const squares = (data: Float32Array): number => data.reduce((sum, v) => sum + v * v, 0)
  t.ok(Math.abs(kept - squares(pruned)) < 1e-6)
  t.ok(Math.abs(kept + lost - squares(w)) < 1e-6)
  const sizeOf = (data: Float32Array, block: number): number => {
    const column = Math.floor(block / k)
    let sum = 0
    for (let row = column * width; row < Math.min(n, (column + 1) * width); row++) sum += data[row * k + (block % k)]! ** 2
    return sum
  }
  const all = Array.from({ length: blocks }, (_, b) => b)
  const dropped = all.filter((b) => sizeOf(pruned, b) === 0)
  t.ok(Math.max(...dropped.map((b) => sizeOf(w, b))) <= Math.min(...all.filter((b) => !dropped.includes(b)).map((b) => sizeOf(w, b))))
  memory.free()
  t.end()
})

if (process.env['PTLITE_JIT_CHILD'] === undefined) {
  const file = fileURLToPath(import.meta.url)
  for (const env of [{ ATEN_CPU_CAPABILITY: 'avx2' }, { ATEN_CPU_CAPABILITY: 'default' }, { PTLITE_JIT: 'deny' }] as Record<
    string,
    string
  >[]) {
    await t.test(`the same with ${JSON.stringify(env)}`, (t) => {
      t.equal(rerun(file, env), '')
      t.end()
    })
  }
}
