import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { setNumThreads } from '../../src/index.js'
import { BINARY, UNARY } from './jit-reference.js'
import { again, isAgain } from '../support/again.js'
import { type Algorithm, Memory } from './jit-support.js'

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
type Form = keyof typeof kernels.SparseForm
const FORMS = Object.keys(kernels.SparseForm) as Form[]
interface Case {
  readonly form: Form
  /** Of the weight. */
  readonly dtype?: DType
  readonly batch: number
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
    dtype: c.dtype ?? DType.float32,
    n_stride: c.k,
    n_group: 16 * c.k,
    k_stride: 1,
    m: c.m,
    form: kernels.SparseForm[c.form],
    has_bias: Number(c.bias),
    post_ops: postOps.length,
    ops: postOps.map((p) => kernels.JitAlgorithm[p.op]),
    access: postOps.map((p) => kernels.JitAccess[p.access ?? 'full']),
    p0: postOps.map((p) => p.p?.[0] ?? 0),
    p1: postOps.map((p) => p.p?.[1] ?? 0),
    p2: postOps.map((p) => p.p?.[2] ?? 1),
  })
}

/** A matrix in memory: [rows, columns] with a gap behind each row, or its transpose; what is not an element is 12345. */
class Matrix {
  readonly memory: Memory
  readonly stride: number
  readonly size: number
  constructor(
    readonly batch: number,
    readonly rows: number,
    readonly columns: number,
    readonly transposed: boolean,
    gap: number,
  ) {
    this.stride = (transposed ? rows : columns) + gap
    this.size = this.stride * (transposed ? columns : rows) + gap
    this.memory = new Memory((batch * this.size + 16) * 4)
    this.memory.write(new Float32Array(batch * this.size + 16).fill(12345))
  }
  at(matrix: number, row: number, column: number): number {
    return matrix * this.size + (this.transposed ? column * this.stride + row : row * this.stride + column)
  }
  /** Writes random elements; gives them by matrix, row and column. */
  fill(): (matrix: number, row: number, column: number) => number {
    const all = this.read()
    for (let b = 0; b < this.batch; b++) {
      for (let i = 0; i < this.rows; i++) for (let j = 0; j < this.columns; j++) all[this.at(b, i, j)] = Math.fround(random() * 2 - 1)
    }
    this.memory.write(all)
    return (b, i, j) => all[this.at(b, i, j)]!
  }
  read(): Float32Array {
    return this.memory.read(new Float32Array(this.batch * this.size + 16))
  }
}

interface Outcome {
  /** Largest, relative to the size of the sums. */
  readonly error: number
  /** Nothing but the elements of the output was written to. */
  readonly untouched: boolean
  readonly generated: boolean
  readonly sameWithTwoThreads: boolean
}

function tryCase(c: Case): Outcome {
  const w = sparseWeight(c.n, c.k, c.share)
  const halves = c.dtype === DType.bfloat16 ? Uint16Array.from(new Uint32Array(w.buffer), (bits) => bits >>> 16) : null
  if (halves !== null) halves.forEach((bits, i) => (new Uint32Array(w.buffer)[i] = bits * 65536))
  const transposed = c.form === 'channels'
  const x = new Matrix(c.batch, c.m, c.k, transposed, 2)
  const xAt = x.fill()
  const out = new Matrix(c.batch, c.m, c.n, transposed, 3)
  const bias = floats(c.n)
  // of one matrix; row and scalar operands may be each matrix's own
  const smallSize = c.postOps.map(({ access }) => (access === 'row' ? c.n : 1))
  const smallBatch = smallSize.map((size) => pick([0, size + 2]))
  const small = smallSize.map((size, i) => floats(size + (c.batch - 1) * smallBatch[i]!))
  const full = new Matrix(c.batch, c.m, c.n, transposed, 1)
  const fullAt = full.fill()
  const memory = [halves ?? w, bias, ...small].map((data) => {
    const m = new Memory(data.byteLength)
    m.write(data)
    return m
  })
  const isFull = c.postOps.map(({ access = 'full' }) => access === 'full')
  const { handle, generated } = create(c, memory[0]!.address)
  const run = (): Float32Array => {
    kernels.sparse_gemm({
      handle,
      n: c.n,
      k: c.k,
      form: kernels.SparseForm[c.form],
      post_ops: c.postOps.length,
      access: c.postOps.map(({ op, access = 'full' }) => kernels.SparseOperand[op in UNARY ? 'none' : access]),
      x: x.memory.address,
      out: out.memory.address,
      bias: c.bias ? memory[1]!.address : 0,
      m: c.m,
      x_stride: x.stride,
      out_stride: out.stride,
      batch: c.batch,
      x_batch: x.size,
      out_batch: out.size,
      x_group: 16,
      out_group: 16,
      operands: isFull.map((yes, i) => (yes ? full.memory : memory[2 + i]!).address),
      operand_strides: isFull.map(() => full.stride),
      operand_batches: isFull.map((yes, i) => (yes ? full.size : smallBatch[i]!)),
      operand_groups: isFull.map(() => 16),
    })
    return out.read()
  }
  const got = run()
  setNumThreads(2)
  const again = run()
  setNumThreads(1)
  const elements = new Uint8Array(got.length)
  let error = 0
  for (let b = 0; b < c.batch; b++) {
    for (let row = 0; row < c.m; row++) {
      for (let column = 0; column < c.n; column++) {
        let want = c.bias ? bias[column]! : 0
        for (let i = 0; i < c.k; i++) want += xAt(b, row, i) * w[column * c.k + i]!
        let size = Math.max(1, Math.abs(want))
        c.postOps.forEach(({ op, access, p }, i) => {
          const operand = isFull[i] ? fullAt(b, row, column) : small[i]![b * smallBatch[i]! + (access === 'row' ? column : 0)]!
          want = UNARY[op]?.(want, p ?? []) ?? BINARY[op]!(want, operand)
          size = Math.max(size, Math.abs(want))
        })
        const at = out.at(b, row, column)
        elements[at] = 1
        error = Math.max(error, Math.abs(got[at]! - want) / size)
      }
    }
  }
  kernels.sparse_release({ handle })
  for (const m of [...memory, x.memory, out.memory, full.memory]) m.free()
  return {
    error,
    untouched: got.every((value, i) => elements[i] === 1 || value === 12345),
    generated: generated !== 0,
    sameWithTwoThreads: got.every((value, i) => Object.is(value, again[i])),
  }
}

const POST_OPS: readonly PostOp[] = [
  { op: 'relu', p: [Math.fround(0.1)] },
  { op: 'gelu_erf' },
  { op: 'sigmoid' },
  { op: 'add', access: 'full' },
  { op: 'mul', access: 'row' },
  { op: 'max', access: 'scalar' },
  { op: 'clamp', p: [-0.5, 2] },
  { op: 'softplus', p: [1, 20] },
]

for (const form of FORMS) {
  await t.test(`${form}: random shapes and shares of zero blocks against dense sums`, (t) => {
    let worst = 0
    let failures = 0
    let generated = 0
    const rounds = isAgain ? 25 : 100
    for (let round = 0; round < rounds; round++) {
      const c: Case = {
        form,
        dtype: pick([DType.float32, DType.bfloat16]),
        batch: 1 + below(2),
        m: 1 + below(70),
        n: 1 + below(70),
        k: 1 + below(70),
        share: pick([0, 0.3, 0.5, 0.8, 0.95, 1]),
        bias: random() < 0.5,
        postOps: Array.from({ length: below(4) }, () => pick(POST_OPS)),
      }
      const result = tryCase(c)
      worst = Math.max(worst, result.error)
      failures += Number(!result.untouched || !result.sameWithTwoThreads)
      generated += Number(result.generated)
    }
    t.ok(worst < 2e-5, `largest relative error ${worst}`)
    t.equal(failures, 0, 'nothing beside the output is written to, and two threads give the same bits')
    const state = kernels.jit_info().state
    t.equal(generated, state === kernels.JitState.ready ? rounds : 0)
    t.end()
  })

  await t.test(`${form}: many rows and channels, code in many parts`, (t) => {
    const cases = [
      { batch: 1, m: 37, n: 60, k: 700, share: 0, postOps: [{ op: 'gelu_tanh' }, { op: 'add' }] },
      { batch: 1, m: 100, n: 20, k: 1500, share: 0.7, postOps: [{ op: 'gelu_tanh' }, { op: 'add' }] },
      { batch: 3, m: 230, n: 24, k: 330, share: 0.8, postOps: [{ op: 'mul', access: 'row' }, { op: 'add' }] },
    ] satisfies Partial<Case>[]
    for (const c of cases) {
      const { error, untouched, sameWithTwoThreads } = tryCase({ form, bias: true, ...c })
      t.ok(error < 2e-5, `${c.m}x${c.n}x${c.k}: ${error}`)
      t.ok(untouched)
      t.ok(sameWithTwoThreads)
    }
    t.end()
  })
}

await t.test('the sparse form gives the dense weight back', (t) => {
  const [n, k] = [45, 31]
  const w = sparseWeight(n, k, 0.6)
  const memory = new Memory(w.byteLength)
  const back = new Memory(w.byteLength)
  memory.write(w)
  const { handle } = create({ form: 'rows', batch: 1, m: 8, n, k, share: 0, bias: false, postOps: [] }, memory.address)
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
  const shape = { weight: memory.address, dtype: DType.float32, n, k, n_stride: k, k_stride: 1, width }
  const { blocks, zero_blocks: before } = kernels.sparse_share({ ...shape, n_group: 16 * k })
  t.same([blocks, before], [3 * k, 0])
  const { kept, lost } = kernels.sparse_prune({ ...shape, zeros: 50 })
  t.equal(kernels.sparse_share({ ...shape, n_group: 16 * k }).zero_blocks, 50)
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

await t.test('pruning of bfloat16 takes the same blocks', (t) => {
  const [n, k, width] = [40, 24, 16]
  const halves = Uint16Array.from(new Uint32Array(floats(n * k).buffer), (bits) => bits >>> 16)
  const whole = new Float32Array(Uint32Array.from(halves, (bits) => bits * 65536).buffer)
  const [pruned, want] = (
    [
      [halves, DType.bfloat16],
      [whole, DType.float32],
    ] as const
  ).map(([data, dtype]) => {
    const memory = new Memory(data.byteLength)
    memory.write(data)
    const shape = { weight: memory.address, dtype, n, k, n_stride: k, k_stride: 1, width }
    kernels.sparse_prune({ ...shape, zeros: 50 })
    t.equal(kernels.sparse_share({ ...shape, n_group: 16 * k }).zero_blocks, 50)
    const after = memory.read(data.slice())
    memory.free()
    return after
  })
  t.same(
    pruned,
    Uint16Array.from(new Uint32Array(want!.buffer), (bits) => bits >>> 16),
  )
  t.end()
})

again(t, import.meta.url, { ATEN_CPU_CAPABILITY: 'avx2' }, { ATEN_CPU_CAPABILITY: 'default' }, { PTLITE_JIT: 'deny' })
