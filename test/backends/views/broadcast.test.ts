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

t.test('short rows that repeat along a dimension, as the factors of channels do', (t) => {
  // rows of 1 to 47 elements, and more of them than a kernel converts at a time
  const cases: readonly (readonly [readonly number[], readonly number[]])[] = [
    [
      [2, 3, 5, 16],
      [2, 3, 1, 16],
    ],
    [
      [2, 3, 70, 16],
      [3, 1, 16],
    ],
    [
      [4, 300, 5],
      [4, 1, 5],
    ],
    [[300, 47], [47]],
    [
      [3, 2, 9, 11, 7],
      [3, 1, 1, 1, 7],
    ],
    [
      [1, 33, 64, 16],
      [33, 1, 16],
    ],
  ]
  for (const [full, row] of cases) {
    for (const [x, y] of [
      ['float32', 'float32'],
      ['float32', 'int64'],
      ['int32', 'uint8'],
      ['float16', 'float16'],
    ] as const) {
      const number = (i: number): number => (i * 7) % 13
      const made = (shape: readonly number[], dtype: DTypeName): Tensor =>
        callOperator('aten::to.dtype', [
          tensor(
            Float32Array.from({ length: count(shape) }, (_, i) => number(i)),
            shape,
          ),
          dtype,
        ]) as Tensor
      const spread = (own: readonly number[]): readonly number[] =>
        build(whole(own), full, (index) => index.slice(full.length - own.length).map((k, d) => (own[d] === 1 ? 0 : k))).places
      const [places, rows] = [spread(full), spread(row)]
      const expected = places.map((n, k) => number(n) + 2 * number(rows[k]!))
      const [a, b] = [made(full, x), made(row, y)]
      const sum = callOperator('aten::add.Tensor', [a, b, 2]) as Tensor
      const wide = callOperator('aten::to.dtype', [sum, 'float32']) as Tensor
      t.strictSame(Array.from(wide.data(), Number), expected, `${x} [${full.join()}] + ${y} [${row.join()}]`)
      const between = callOperator('aten::addcmul', [a, b, b]) as Tensor
      const exact = places.map((n, k) => number(n) + number(rows[k]!) ** 2)
      t.strictSame(Array.from((callOperator('aten::to.dtype', [between, 'float32']) as Tensor).data(), Number), exact)
    }
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
