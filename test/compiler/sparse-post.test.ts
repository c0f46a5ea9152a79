import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { callOperator, float, type Input, setNumThreads, type Tensor, tensor } from '../../src/index.js'
import { rerun } from '../native/jit-support.js'

// Steps behind block-sparse products: the bits of the product followed by ptlite::fused, whatever is generated.

let seed = 11
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
const filled = (shape: readonly number[]): Tensor => {
  const size = shape.reduce((a, b) => a * b, 1)
  return tensor(
    Float32Array.from({ length: size }, () => random() * 4 - 2),
    [...shape],
  )
}

/** A weight [n, k, ...rest] of which about half of the blocks of 16 outputs are zero. */
function weightOf(n: number, k: number, rest: readonly number[]): Tensor {
  const data = Float32Array.from({ length: n * k }, () => random() - 0.5)
  for (let block = 0; block < Math.ceil(n / 16) * k; block++) {
    if (random() < 0.5) continue
    for (let row = Math.floor(block / k) * 16; row < n && row < (Math.floor(block / k) + 1) * 16; row++) data[row * k + (block % k)] = 0
  }
  return tensor(data, [n, k, ...rest])
}

interface Layer {
  /** Without steps. */
  readonly op: string
  readonly args: readonly Input[]
  readonly shape: readonly number[]
  /** Shapes of the operands that the kernel can read. */
  readonly operands: readonly (readonly number[])[]
}

const limits = (): Input[] =>
  pick([
    [-Infinity, Infinity],
    [0, Infinity],
    [-0.5, 1],
  ]).map((x) => float(x))
const biasOf = (n: number): Tensor | null => (random() < 0.5 ? filled([n]) : null)

const LAYERS: Readonly<Record<string, () => Layer>> = {
  linear() {
    const [m, n, k] = [1 + below(60), 2 + below(60), 1 + below(40)]
    const args = [filled([m, k]), weightOf(n, k, []), biasOf(n), pick(['rows', 'unrolled', 'vectors']), ...limits()]
    return { op: 'ptlite::sparse_linear', args, shape: [m, n], operands: [[m, n], [n], [1, n], [1], []] }
  },
  convolution() {
    const [batch, n, k, h, w] = [1 + below(3), 1 + below(60), 1 + below(40), 1 + below(12), 2 + below(12)]
    const args = [filled([batch, k, h, w]), weightOf(n, k, [1, 1]), biasOf(n), ...limits()]
    const operands = [[batch, n, h, w], [n, h, w], [n, 1, 1], [batch, n, 1, 1], [batch, 1, h, w], [h, w], [batch, 1, 1, 1], [1]]
    return { op: 'ptlite::sparse_convolution', args, shape: [batch, n, h, w], operands }
  },
  'blocked convolution'() {
    const [batch, blocks, k, h, w] = [1 + below(3), 1 + below(4), 16 * (1 + below(3)), 1 + below(12), 2 + below(12)]
    const filter = callOperator('ptlite::blocked_filter', [weightOf(16 * blocks, k, [1, 1])])
    const shape = [batch, blocks, h, w, 16]
    const residual = random() < 0.5 ? filled(shape) : null
    const args = [filled([batch, k / 16, h, w, 16]), filter, biasOf(16 * blocks), residual, ...limits()]
    const operands = [
      shape,
      [blocks, h, w, 16],
      [blocks, 1, 1, 16],
      [batch, blocks, 1, 1, 16],
      [16],
      [batch, 1, h, w, 16],
      [batch, 1, 1, 1, 1],
      [],
    ]
    return { op: 'ptlite::sparse_blocked_convolution', args, shape, operands }
  },
}

const { relu, gelu_erf, sigmoid, hardswish, clamp, softplus, neg, add, sub, mul, div, max, min } = kernels.JitAlgorithm
const UNARY: readonly (readonly [number, number, number])[] = [
  [relu, 0, 0],
  [relu, 0.1, 0],
  [gelu_erf, 0, 0],
  [sigmoid, 0, 0],
  [hardswish, 0, 0],
  [clamp, -0.5, 2],
  [softplus, 1, 20],
  [neg, 0, 0],
]

interface Steps {
  readonly operands: Tensor[]
  readonly ops: number[]
  readonly values: number[]
  readonly numbers: number[]
}

/** A chain on value 0. */
function chainFor({ operands: shapes }: Layer, length: number): Steps {
  const kinds = Array.from({ length }, () => pick(['unary', 'operand', 'number'] as const))
  const operands = kinds.flatMap((kind) => (kind === 'operand' ? [filled(pick(shapes))] : []))
  if (operands.length > 4) return chainFor({ operands: shapes } as Layer, length)
  const ops: number[] = []
  const values: number[] = []
  const numbers: number[] = []
  let used = 0
  kinds.forEach((kind, i) => {
    const previous = i === 0 ? 0 : operands.length + i
    if (kind === 'unary') {
      const [op, ...own] = pick(UNARY)
      ops.push(op)
      values.push(previous, 0)
      numbers.push(...own)
      return
    }
    const op = pick(kind === 'operand' ? [add, sub, mul, div, max, min] : [add, sub, mul])
    const other = kind === 'operand' ? 1 + used++ : -2
    const pair = [previous, other]
    ops.push(op)
    values.push(...(random() < 0.3 && (op === add || op === mul) && other > 0 ? pair.reverse() : pair))
    numbers.push(0, pick([-1.5, 0, 0.3]))
  })
  return { operands, ops, values, numbers }
}

const floats = (list: readonly number[]): Input[] => list.map((x) => float(x))
const fused = (x: Tensor, { operands, ops, values, numbers }: Steps): Tensor =>
  callOperator('ptlite::fused', [[x, ...operands], [...x.shape], ops, values, floats(numbers)]) as Tensor
const together = ({ op, args }: Layer, { operands, ops, values, numbers }: Steps): Tensor =>
  callOperator(op, [...args, operands, ops, values, floats(numbers)]) as Tensor
const bytesOf = (x: Tensor): Buffer => Buffer.from((x.data() as Float32Array).slice().buffer)

const digest = createHash('sha1')
for (const [name, make] of Object.entries(LAYERS)) {
  await t.test(`${name}: chains of random steps`, (t) => {
    let wrong = 0
    for (let round = 0; round < 50; round++) {
      const layer = make()
      const steps = chainFor(layer, 1 + below(6))
      setNumThreads(1 + below(2))
      const alone = callOperator(layer.op, [...layer.args]) as Tensor
      const want = bytesOf(fused(alone, steps))
      const got = bytesOf(together(layer, steps))
      wrong += Number(!got.equals(want))
      digest.update(got)
    }
    setNumThreads(1)
    t.equal(wrong, 0)
    t.end()
  })
}

await t.test('bfloat16: sums in float32, rounded once', (t) => {
  const half = (x: Tensor): Tensor => {
    const bits = new Uint32Array((x.data() as Float32Array).slice().buffer)
    return tensor(
      Uint16Array.from(bits, (b) => b >>> 16),
      [...x.shape],
      'bfloat16',
    )
  }
  const floatsOf = (x: Tensor): Float32Array => new Float32Array(Uint32Array.from(x.data() as Uint16Array, (b) => b * 65536).buffer)
  let wrong = 0
  for (let round = 0; round < 60; round++) {
    const [m, n, k] = [1 + below(60), 1 + below(60), 1 + below(60)]
    const [x, weight, bias] = [filled([m, k]), weightOf(n, k, []), filled([n])].map(half) as [Tensor, Tensor, Tensor]
    const bounds = limits()
    const y = callOperator('ptlite::sparse_linear', [x, weight, bias, pick(['rows', 'unrolled', 'vectors']), ...bounds]) as Tensor
    t.equal(y.dtype, 'bfloat16')
    const [a, b, c, got] = [x, weight, bias, y].map(floatsOf) as [Float32Array, Float32Array, Float32Array, Float32Array]
    const [low, high] = (bounds as { value: number }[]).map(({ value }) => value) as [number, number]
    got.forEach((value, at) => {
      const [row, column] = [Math.floor(at / n), at % n]
      let sum = c[column]!
      let size = Math.abs(sum)
      for (let i = 0; i < k; i++) {
        const product = a[row * k + i]! * b[column * k + i]!
        sum += product
        size += Math.abs(product)
      }
      const exact = Math.min(Math.max(sum, low), high)
      // half a unit in the last of 8 bits, beside what float32 sums may lose
      const allowed = 2 ** -8 * Math.abs(exact) + 2 * (k + 2) * 2 ** -23 * size
      wrong += Number(!(Math.abs(value - exact) <= allowed))
    })
    digest.update(y.data() as Uint16Array)
  }
  t.equal(wrong, 0)
  const [x, weight] = [filled([2, 3]), weightOf(16, 3, [])]
  const mixed = [
    [half(x), weight],
    [x, half(weight)],
  ]
  for (const [a, b] of mixed)
    t.throws(() => callOperator('ptlite::sparse_linear', [a!, b!, null, 'rows', float(0), float(1)]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

await t.test('steps that are no chain, and operands that the kernel cannot read', (t) => {
  for (const make of Object.values(LAYERS)) {
    const layer = make()
    const alone = callOperator(layer.op, [...layer.args]) as Tensor
    const [wide, narrow] = [filled([...layer.shape, 2]), filled([...layer.shape.slice(0, -1), 1])]
    const apart = callOperator('aten::select.int', [wide, -1, 1]) as Tensor
    const cases: Steps[] = [
      // the result twice
      { operands: [], ops: [sigmoid, mul], values: [0, 0, 1, 0], numbers: [0, 0, 0, 0] },
      // from a number, and by one
      { operands: [], ops: [sub, div], values: [-1, 0, 1, -2], numbers: [1, 0, 0, 3] },
      { operands: [apart], ops: [add], values: [0, 1], numbers: [0, 0] },
      { operands: [narrow], ops: [mul], values: [0, 1], numbers: [0, 0] },
      {
        operands: [],
        ops: Array<number>(8).fill(neg),
        values: [0, 1, 2, 3, 4, 5, 6, 7].flatMap((v) => [v, 0]),
        numbers: Array<number>(16).fill(0),
      },
    ]
    cases.forEach((steps, i) => t.ok(bytesOf(together(layer, steps)).equals(bytesOf(fused(alone, steps))), `${layer.op}, case ${i}`))
    const wrong = filled([...layer.shape.slice(0, -1), layer.shape.at(-1)! + 1])
    const steps = { operands: [wrong], ops: [add], values: [0, 1], numbers: [0, 0] }
    t.throws(() => together(layer, steps), { code: 'INVALID_ARGUMENT' })
  }
  t.end()
})

// at one level, generated and compiled code agree
const { PTLITE_JIT_CHILD: child, PTLITE_TEST_DIGEST: expected } = process.env
const found = digest.digest('hex')
if (expected !== undefined) t.equal(found, expected)
else {
  const file = fileURLToPath(import.meta.url)
  for (const how of child === undefined ? ['0', 'deny'] : ['0'])
    t.equal(rerun(file, { PTLITE_JIT: how, PTLITE_TEST_DIGEST: found }), '', how)
  if (child === undefined) t.equal(rerun(file, { ATEN_CPU_CAPABILITY: 'avx2' }), '', 'AVX2')
}
