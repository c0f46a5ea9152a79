import t from 'tap'
import { callOperator, type DTypeName, tensor, type Tensor } from '../../../src/index.js'
import { build, count, indices, Random, whole } from './index-model.js'

function iota(shape: readonly number[]): Tensor {
  return tensor(
    Float32Array.from({ length: count(shape) }, (_, i) => i),
    shape,
  )
}

t.test('operands are broadcast as their shapes say', (t) => {
  const random = new Random(5)
  for (let i = 0; i < 200; i++) {
    const full = Array.from({ length: random.below(5) }, () => random.below(4))
    const operand = (): number[] => full.slice(random.below(full.length + 1)).map((size) => (random.below(3) === 0 ? 1 : size))
    const [a, b] = [operand(), operand()]
    const rank = Math.max(a.length, b.length)
    const at = (shape: readonly number[], d: number): number => shape[d - rank + shape.length] ?? 1
    const shape = Array.from({ length: rank }, (_, d) => (at(a, d) === 1 ? at(b, d) : at(a, d)))
    const expanded = (own: readonly number[]): readonly number[] =>
      build(whole(own), shape, (index) => index.slice(rank - own.length).map((k, d) => (own[d] === 1 ? 0 : k))).places
    const sum = callOperator('aten::add.Tensor', [iota(a), iota(b)]) as Tensor
    const [x, y] = [expanded(a), expanded(b)]
    t.strictSame(sum.shape, shape, `[${a.join()}] + [${b.join()}]`)
    t.strictSame(
      Array.from(sum.data(), Number),
      x.map((n, k) => n + y[k]!),
    )
    const views = callOperator('aten::broadcast_tensors', [[iota(a), iota(b)]]) as Tensor[]
    t.strictSame(
      views.map((v) => Array.from(v.data(), Number)),
      [x, y],
    )
  }
  t.end()
})

t.test('shapes that cannot be broadcast are refused', (t) => {
  for (const [a, b] of [
    [[2], [3]],
    [[2, 3], [2]],
    [
      [4, 1, 2],
      [3, 1, 1],
    ],
  ] as const) {
    t.throws(() => callOperator('aten::add.Tensor', [iota(a), iota(b)]), { code: 'INVALID_ARGUMENT' })
  }
  t.end()
})

const DTYPES: readonly DTypeName[] = ['bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64']
const RANK: Partial<Record<DTypeName, number>> = { bool: 0, float16: 2, bfloat16: 2, float32: 2, float64: 2 }
const rank = (d: DTypeName): number => RANK[d] ?? 1

/** The smallest dtype that holds the values of both. */
function join(a: DTypeName, b: DTypeName): DTypeName {
  if (a === b) return a
  const pair = new Set([a, b])
  if (rank(a) === 2 && rank(b) === 2) return pair.has('float64') ? 'float64' : 'float32'
  if (rank(a) !== rank(b)) return rank(a) > rank(b) ? a : b
  if (!pair.has('uint8')) return DTYPES.find((d, i) => i === Math.max(DTYPES.indexOf(a), DTYPES.indexOf(b)) && d) ?? a
  const other = a === 'uint8' ? b : a
  return other === 'int8' ? 'int16' : other
}

t.test('dtypes are promoted by category and dimension', (t) => {
  for (const a of DTYPES) {
    for (const b of DTYPES) {
      const make = (dtype: DTypeName, shape: readonly number[]): Tensor => callOperator('aten::zeros', [shape, dtype]) as Tensor
      const sum = (x: Tensor, y: Tensor): string => (callOperator('aten::add.Tensor', [x, y]) as Tensor).dtype
      t.equal(sum(make(a, [2]), make(b, [2])), join(a, b), `${a} + ${b}`)
      t.equal(sum(make(a, []), make(b, [])), join(a, b), `0-d ${a} + 0-d ${b}`)
      t.equal(sum(make(a, [2]), make(b, [])), rank(b) > rank(a) ? join(a, b) : a, `${a} + 0-d ${b}`)
    }
  }
  t.end()
})

t.test('every index is visited once', (t) => {
  t.strictSame([...indices([2, 2])], [[0, 0], [0, 1], [1, 0], [1, 1]]) // prettier-ignore
  t.strictSame([...indices([])], [[]])
  t.strictSame([...indices([3, 0])], [])
  t.end()
})
