import t from 'tap'
import { callOperator, PtliteError, tensor, type Tensor } from '../../src/index.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data(), Number)
const call = (op: string, ...args: unknown[]): unknown => callOperator(`aten::${op}`, args as never[])
const floats = (shape: number[]): Tensor => tensor(Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => i), shape) // prettier-ignore
const longs = (list: number[], shape = [list.length]): Tensor => tensor(BigInt64Array.from(list, BigInt), shape, 'int64')
const bools = (list: number[], shape = [list.length]): Tensor => tensor(Uint8Array.from(list), shape, 'bool')

t.test('advanced indexing puts the index dims where NumPy does', (t) => {
  const x = floats([2, 3, 4])
  const neighbours = call('index.Tensor', x, [null, longs([2, 0]), longs([-1, 1])]) as Tensor
  t.strictSame([neighbours.shape, numbers(neighbours)], [[2, 2], [11, 1, 23, 13]]) // prettier-ignore
  const apart = call('index.Tensor', x, [longs([1, 0]), null, longs([0, 3])]) as Tensor
  t.strictSame([apart.shape, numbers(apart)], [[2, 3], [12, 16, 20, 3, 7, 11]]) // prettier-ignore
  const crossed = call('index.Tensor', x, [longs([0, 1], [2, 1]), longs([0, 2])]) as Tensor
  t.strictSame(crossed.shape, [2, 2, 4])
  t.end()
})

t.test('masks select', (t) => {
  const x = floats([2, 3])
  t.strictSame(numbers(call('index.Tensor', x, [bools([1, 0, 0, 1, 0, 1], [2, 3])])), [0, 3, 5])
  t.strictSame(numbers(call('index.Tensor', x, [null, bools([1, 0, 1])])), [0, 2, 3, 5])
  t.strictSame(numbers(call('masked_select', x, bools([0, 1, 1]))), [1, 2, 4, 5])
  t.strictSame(numbers(call('masked_fill.Scalar', x, bools([1, 0], [2, 1]), 9)), [9, 9, 9, 3, 4, 5])
  t.strictSame(numbers(call('nonzero', x)), [0, 1, 0, 2, 1, 0, 1, 1, 1, 2])
  t.throws(() => call('index.Tensor', x, [bools([1, 0, 1])]), /mask/)
  t.end()
})

t.test('every index is checked', (t) => {
  const x = floats([2, 3])
  for (const [op, ...args] of [
    ['index.Tensor', x, [longs([2])]],
    ['index.Tensor', x, [longs([-3])]],
    ['gather', x, 1, longs([3], [1, 1])],
    ['gather', x, 1, longs([-1], [1, 1])],
    ['index_select', x, 0, longs([-1])],
    ['embedding', x, longs([2])],
    ['take', x, longs([6])],
    ['scatter.value', x, 1, longs([3], [1, 1]), 1],
    ['index_add', x, 0, longs([2]), floats([1, 3])],
  ] as const) {
    t.throws(() => call(op, ...args), PtliteError, op)
  }
  t.end()
})

t.test('writes accumulate in order and leave the original alone', (t) => {
  const x = floats([4])
  t.strictSame(numbers(call('index_put', x, [longs([1, 1, 3])], tensor(Float32Array.of(5, 6, 7)), true)), [0, 12, 2, 10])
  t.strictSame(numbers(call('scatter_add', x, 0, longs([0, 0]), tensor(Float32Array.of(1, 2)))), [3, 1, 2, 3])
  t.strictSame(numbers(x), [0, 1, 2, 3])
  t.equal(call('index_put_', x, [longs([-1])], tensor(Float32Array.of(8))), x)
  t.strictSame(numbers(x), [0, 1, 2, 8])
  t.end()
})

t.test('scatter_reduce with and without the old contents', (t) => {
  const x = tensor(Float32Array.of(10, 20, 30))
  const args = (reduce: string, self: boolean): unknown[] => [x, 0, longs([0, 0, 2]), tensor(Float32Array.of(2, 4, 40)), reduce, self]
  t.strictSame(numbers(call('scatter_reduce.two', ...args('mean', true))), [16 / 3, 20, 35].map(Math.fround))
  t.strictSame(numbers(call('scatter_reduce.two', ...args('mean', false))), [3, 20, 40])
  t.strictSame(numbers(call('scatter_reduce.two', ...args('prod', false))), [8, 20, 40])
  t.strictSame(numbers(call('scatter_reduce.two', ...args('amin', true))), [2, 20, 30])
  t.end()
})

t.test('bags of embeddings', (t) => {
  const weight = floats([4, 2])
  const bag = (mode: number, padding: number | null): number[] =>
    numbers(
      (
        call('embedding_bag.padding_idx', weight, longs([0, 3, 1]), longs([0, 2, 2]), false, mode, false, null, false, padding) as unknown[]
      )[0],
    )
  t.strictSame(bag(0, null), [6, 8, 0, 0, 2, 3])
  t.strictSame(bag(1, null), [3, 4, 0, 0, 2, 3])
  t.strictSame(bag(2, 3), [0, 1, 0, 0, 2, 3])
  t.end()
})

t.test('gather takes no indices of any dtype, and take_along_dim counts from the end of a dim that it is given', (t) => {
  const x = floats([2, 3])
  t.strictSame(numbers(call('gather', x, 1, tensor(new Uint8Array(0), [0, 3]))), [])
  t.strictSame(numbers(call('take_along_dim', x, longs([-1, 0, 0, -3], [2, 2]), 1)), [2, 0, 3, 3])
  t.throws(() => call('take_along_dim', x, longs([-4, 0], [2, 1]), 1), PtliteError)
  t.throws(() => call('take_along_dim', x, longs([-1]), null), PtliteError)
  t.end()
})
