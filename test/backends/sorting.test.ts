import t from 'tap'
import * as library from '../../src/index.js'
import { topkTies } from './support/topk-ties.js'

const { callOperator, PtliteError, tensor } = library

const numbers = (x: unknown): number[] => Array.from((x as library.Tensor).data(), Number)
const call = (op: string, ...args: unknown[]): unknown => callOperator(`aten::${op}`, args as never[])
const both = (x: unknown): number[][] => (x as unknown[]).map(numbers)

t.test('any length, both directions, with NaN at the far end', (t) => {
  for (const n of [1, 2, 16, 17, 300, 511, 512, 3000]) {
    const data = Float32Array.from({ length: n }, (_, i) => (i % 7 === 3 ? NaN : ((i * 7919) % 101) - 50))
    for (const [op, extra] of [
      ['sort', []],
      ['sort.stable', [true]],
    ] as const) {
      for (const descending of [false, true]) {
        const [values, indices] = both(call(op, tensor(data), ...extra, 0, descending))
        const rank = (x: number): number => (Number.isNaN(x) ? Infinity : x)
        const want = [...data.keys()].sort(
          (a, b) => (descending ? -1 : 1) * (rank(data[a]!) === rank(data[b]!) ? 0 : rank(data[a]!) - rank(data[b]!)),
        )
        t.strictSame(values, want.map((i) => data[i]), `${op} of ${n}`) // prettier-ignore
        t.strictSame(indices!.map((i) => data[i]), values) // prettier-ignore
        if (op === 'sort.stable') t.strictSame(indices, want, 'ties keep their order')
      }
    }
  }
  t.end()
})

t.test('integers of every width', (t) => {
  for (const [dtype, data] of [
    ['int8', Int8Array.of(3, -128, 127, 0)],
    ['uint8', Uint8Array.of(3, 255, 0, 128)],
    ['int32', Int32Array.of(5, -(2 ** 31), 2 ** 31 - 1, -1)],
    ['int64', BigInt64Array.of(5n, -(2n ** 63n), 2n ** 63n - 1n, -1n)],
  ] as const) {
    const [values] = call('sort', tensor(data, [4], dtype)) as library.Tensor[]
    t.strictSame(
      Array.from<number | bigint>(values!.data() as ArrayLike<number | bigint>),
      Array.from<number | bigint>(data as ArrayLike<number | bigint>).sort((a, b) => (a < b ? -1 : 1)),
      dtype,
    )
  }
  t.end()
})

t.test('selection', (t) => {
  const x = tensor(Float32Array.of(4, 1, 3, 1, 5))
  t.strictSame(both(call('topk', x, 2)), [[5, 4], [4, 0]]) // prettier-ignore
  t.strictSame(both(call('topk', x, 2, -1, false)), [[1, 1], [1, 3]]) // prettier-ignore
  t.strictSame(both(call('kthvalue', x, 3)), [[3], [2]])
  t.strictSame(both(call('median.dim', x, 0)), [[3], [2]])
  t.strictSame(numbers((call('mode', x) as unknown[])[0]), [1])
  t.throws(() => call('topk', x, 6), PtliteError)
  t.throws(() => call('kthvalue', x, 0), PtliteError)
  t.end()
})

t.test('distinct elements and slices', (t) => {
  const x = tensor(Float32Array.of(2, 1, 2, 2, 3))
  t.strictSame(both(call('_unique2', x, true, true, true)), [[1, 2, 3], [1, 0, 1, 1, 2], [1, 3, 1]]) // prettier-ignore
  t.strictSame(both(call('unique_consecutive', x, true, true)), [[2, 1, 2, 3], [0, 1, 2, 2, 3], [1, 1, 2, 1]]) // prettier-ignore
  const rows = tensor(Float32Array.of(1, 2, 0, 9, 1, 2), [3, 2])
  t.strictSame(both(call('unique_dim', rows, 0, true, true, true)), [[0, 9, 1, 2], [1, 0, 1], [1, 2]]) // prettier-ignore
  t.end()
})

t.test('searching and counting', (t) => {
  const edges = tensor(Float32Array.of(1, 3, 3, 5))
  const x = tensor(Float32Array.of(0, 3, 4, NaN))
  t.strictSame(numbers(call('bucketize.Tensor', x, edges)), [0, 1, 3, 4])
  t.strictSame(numbers(call('bucketize.Tensor', x, edges, false, true)), [0, 3, 3, 4])
  t.strictSame(numbers(call('isin.Tensor_Tensor', x, edges)), [0, 1, 0, 0])
  t.strictSame(numbers(call('bincount', tensor(BigInt64Array.of(1n, 3n, 1n), [3], 'int64'))), [0, 2, 0, 1])
  t.strictSame(numbers(call('histc', tensor(Float32Array.of(0, 1, 1, 2, 4)), 4)), [1, 2, 1, 1])
  t.strictSame(numbers(call('quantile.scalar', tensor(Float32Array.of(4, 1, 3)), 0.25)), [2])
  t.end()
})

t.test('topk takes those of equal elements that PyTorch takes', (t) => {
  const { calls, wrong } = topkTies(library)
  t.ok(calls > 50)
  t.strictSame(wrong, [])
  t.end()
})
