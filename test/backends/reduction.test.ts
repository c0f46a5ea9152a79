import t from 'tap'
import { callOperator, PtliteError, Tensor, tensor, type tuple } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data(), Number)
const call = (op: string, ...args: unknown[]): unknown => callOperator(`aten::${op}`, args as never[])
const wave = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => Math.sin(i * 1.7) * 3)

/** rows x columns, laid out as it is or transposed. */
function matrix(rows: number, columns: number, transposed: boolean): { t: Tensor; at: (r: number, c: number) => number } {
  const data = wave(rows * columns)
  const strides = transposed ? [1, rows] : [columns, 1]
  const t = Tensor.fromStorage(data, { dtype: 'float32', shape: [rows, columns], strides })
  return { t, at: (r, c) => data[r * strides[0]! + c * strides[1]!]! }
}

const FOLDS: Readonly<Record<string, (list: number[]) => number>> = {
  'sum.dim_IntList': (x) => x.reduce((a, b) => a + b, 0),
  amax: (x) => Math.max(...x),
  amin: (x) => Math.min(...x),
  'mean.dim': (x) => x.reduce((a, b) => a + b, 0) / x.length,
}

t.test('folds agree with plain loops over every layout, size and dim', (t) => {
  for (const [rows, columns] of [
    [1, 1],
    [3, 5],
    [7, 600],
    [600, 7],
    [33, 130],
  ] as const) {
    for (const transposed of [false, true]) {
      const { t: x, at } = matrix(rows, columns, transposed)
      const lines = [
        Array.from({ length: columns }, (_, c) => Array.from({ length: rows }, (_, r) => at(r, c))),
        Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => at(r, c))),
      ]
      for (const [op, fold] of Object.entries(FOLDS)) {
        for (const dim of [0, 1]) {
          const got = numbers(call(op, x, [dim], false))
          const want = lines[dim]!.map(fold)
          t.ok(got.every((g, i) => Math.abs(g - want[i]!) < 1e-4), `${op} of ${rows} x ${columns} along ${dim}, transposed ${transposed}`) // prettier-ignore
        }
      }
      const spread = numbers(call('var.dim', x, [1], false))
      lines[1]!.forEach((line, r) => {
        const mean = FOLDS['mean.dim']!(line)
        const want = line.reduce((a, b) => a + (b - mean) ** 2, 0) / line.length
        t.ok(Math.abs(spread[r]! - want) < 1e-4, 'population variance')
      })
    }
  }
  t.end()
})

t.test('a long float32 sum keeps its digits', (t) => {
  const x = tensor(new Float32Array(1_000_000).fill(0.1))
  t.ok(Math.abs(numbers(call('sum', x))[0]! - 100_000) < 0.1)
  t.end()
})

t.test('NaN wins, the first of equals is reported', (t) => {
  const x = tensor(Float32Array.of(1, 5, NaN, 5, NaN))
  t.ok(Number.isNaN(numbers(call('max', x))[0]))
  t.strictSame(numbers(call('argmax', x)), [2])
  t.strictSame(numbers(call('argmax', tensor(Float32Array.of(1, 5, 2, 5)))), [1])
  t.strictSame(numbers(call('nansum', x)), [11])
  t.end()
})

t.test('dtypes of results', (t) => {
  const flags = Tensor.fromStorage(Uint8Array.of(1, 0, 1), { dtype: 'bool', shape: [3] })
  t.equal((call('sum', flags) as Tensor).dtype, 'int64')
  t.strictSame(numbers(call('sum', flags)), [2])
  t.equal((call('any', tensor(Uint8Array.of(0, 2), [2], 'uint8')) as Tensor).dtype, 'uint8')
  t.equal((call('sum', flags, 'float32') as Tensor).dtype, 'float32')
  t.throws(() => call('mean', tensor(Int32Array.of(1, 2), [2], 'int32')), PtliteError)
  t.end()
})

t.test('nothing to fold', (t) => {
  const none = tensor(new Float32Array(0), [0, 3])
  t.strictSame(numbers(call('sum.dim_IntList', none, [0])), [0, 0, 0])
  t.strictSame(numbers(call('all.dim', none, 0)), [1, 1, 1])
  t.strictSame(numbers(call('any.dim', none, 0)), [0, 0, 0])
  t.throws(() => call('amax', none, [0]), PtliteError)
  t.throws(() => call('max', none), PtliteError)
  t.ok(numbers(call('mean.dim', none, [0])).every(Number.isNaN))
  t.end()
})

t.test('dims are checked', (t) => {
  const x = tensor(wave(6), [2, 3])
  t.throws(() => call('sum.dim_IntList', x, [2]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('sum.dim_IntList', x, [0, -2]), /multiple times/)
  t.end()
})

t.test('running folds and norms', (t) => {
  const x = tensor(Float32Array.of(1, 3, 2, 3), [4])
  t.strictSame(numbers(call('cumsum', x, 0)), [1, 4, 6, 9])
  t.strictSame(numbers(call('cumprod', x, 0)), [1, 3, 6, 18])
  const [values, where] = call('cummax', x, 0) as ReturnType<typeof tuple>['items']
  t.strictSame([numbers(values), numbers(where)], [[1, 3, 3, 3], [0, 1, 1, 3]]) // prettier-ignore
  const y = tensor(Float32Array.of(3, -4))
  t.strictSame(numbers(call('norm.Scalar', y, 2)), [5])
  t.strictSame(numbers(call('norm.Scalar', y, Infinity)), [4])
  t.strictSame(numbers(call('norm.Scalar', y, 0)), [2])
  t.end()
})

atEveryLevel(t, import.meta.url)
