import t from 'tap'
import { callOperator, float, int, type Input, tensor, tuple } from '../../src/index.js'

const run = (op: string, ...args: Input[]): unknown => callOperator(`aten::${op}`, args)

t.test('lists are changed in place', (t) => {
  const list: Input[] = [1, 2, 3]
  run('append.t', list, 4)
  run('insert.t', list, int(-1), 9)
  run('extend.t', list, list)
  t.strictSame(list, [1, 2, 3, 9, 4, 1, 2, 3, 9, 4])
  t.equal(run('pop.t', list), 4)
  t.equal(run('pop.t', list, int(0)), 1)
  run('Delete.t', list, int(-1))
  run('reverse.t', list)
  t.strictSame(list, [3, 2, 1, 4, 9, 3, 2])
  run('sort.int', list, true)
  t.strictSame(list, [9, 4, 3, 3, 2, 2, 1])
  run('mul_.t', list, int(0))
  t.strictSame(list, [])
  t.throws(() => run('pop.t', list), { code: 'MODEL_ERROR', message: /empty/ })
  t.throws(() => run('__getitem__.t', [1], int(1)), { code: 'MODEL_ERROR', message: /IndexError/ })
  t.end()
})

t.test('tensors of one element are sorted by it', (t) => {
  const [a, b, c] = [tensor([2], [1]), tensor([-1, 2], [2]), tensor([0.5], [])]
  const list: Input[] = [a, c, a]
  run('sort.Tensor', list, false)
  t.strictSame(list, [c, a, a])
  run('sort.Tensor', list, true)
  t.strictSame(list, [a, a, c])
  t.throws(() => run('sort.Tensor', [a, b], false), { code: 'INVALID_ARGUMENT' })
  // nothing to compare
  run('sort.Tensor', [b], false)
  t.end()
})

t.test('slices', (t) => {
  const list = [0, 1, 2, 3, 4, 5]
  const MAX = int(2n ** 63n - 1n)
  t.strictSame(run('slice.t', list, int(1), MAX), [1, 2, 3, 4, 5])
  t.strictSame(run('slice.t', list, null, null, int(-1)), [5, 4, 3, 2, 1, 0])
  t.strictSame(run('slice.t', list, int(5), int(-6), int(-2)), [5, 3, 1])
  t.strictSame(run('slice.t', list, int(-100), int(2)), [0, 1])
  t.throws(() => run('slice.t', list, null, null, int(0)), { code: 'MODEL_ERROR' })
  t.end()
})

t.test('floats are compared as numbers, NaN with nothing', (t) => {
  const list = [float(1), float(NaN), float(2)]
  t.equal(run('__contains__.float_list', list, float(2)), true)
  t.equal(run('__contains__.float_list', list, float(NaN)), false)
  t.equal(run('index.list_float', list, float(2)), 2)
  t.equal(run('eq.float_list', [float(-0)], [float(0)]), true)
  t.equal(run('all.float', [float(NaN)]), true)
  t.end()
})

t.test('tensors in lists must have one element to be compared', (t) => {
  const [a, b] = [tensor([1]), tensor([1])]
  t.equal(run('eq.Tensor_list', [a], [b]), true)
  t.equal(run('index.list_Tensor', [tensor([2]), a], b), 1)
  t.throws(() => run('eq.Tensor_list', [tensor([1, 2])], [tensor([1, 2])]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('the least of lists', (t) => {
  t.strictSame(callOperator('prim::min.int_list', [[1, 5], [1, 2, 3]]), [1, 2, 3]) // prettier-ignore
  t.strictSame(callOperator('prim::max.int_list', [[1, 2], [1, 2, 3]]), [1, 2, 3]) // prettier-ignore
  t.throws(() => callOperator('prim::min.self_int', [[]]), { code: 'MODEL_ERROR' })
  t.end()
})

t.test('dicts keep the order of insertion', (t) => {
  const dict = new Map<string, number>([['b', 1], ['a', 2]]) // prettier-ignore
  run('_set_item.str', dict, 'c', 3)
  run('_set_item.str', dict, 'b', 4)
  t.strictSame(run('keys.str', dict), ['b', 'a', 'c'])
  t.strictSame(run('items.str', dict), [['b', 4], ['a', 2], ['c', 3]]) // prettier-ignore
  t.strictSame(run('popitem.str', dict), ['b', 4], 'the first entry, unlike in Python')
  t.equal(run('get.str', dict, 'x'), null)
  t.equal(run('get.default_str', dict, 'x', 7), 7)
  t.equal(run('setdefault.str', dict, 'x', 8), 8)
  run('update.str', dict, new Map([['a', 5]]))
  t.strictSame([...dict], [['a', 5], ['c', 3], ['x', 8]]) // prettier-ignore
  t.throws(() => run('__getitem__.Dict_str', dict, 'nope'), { code: 'MODEL_ERROR', message: "KeyError: 'nope'" })
  t.throws(() => run('Delete.Dict_str', dict, 'nope'), { code: 'MODEL_ERROR' })
  t.strictSame(run('keys.float', new Map([[1.5, 1]])), [1.5])
  t.strictSame(run('dict.int', [tuple(1, 'a'), tuple(1, 'b')]), new Map([[1, 'b']]))
  t.end()
})

t.test('tensors from numbers', (t) => {
  const of = (data: Input, dtype: string | null = null): { dtype: string; data: unknown[]; shape: readonly number[] } => {
    const x = callOperator('aten::tensor', [data, dtype, null, false]) as ReturnType<typeof tensor>
    return { dtype: x.dtype, data: Array.from(x.data() as Iterable<unknown>), shape: x.shape }
  }
  t.match(of([[1, 2], [3, 4]]), { dtype: 'int64', data: [1n, 2n, 3n, 4n], shape: [2, 2] }) // prettier-ignore
  t.match(of([float(0.1)], 'float64'), { dtype: 'float64', data: [Math.fround(0.1)] }, 'floats pass through single precision')
  t.match(of([300, -1], 'uint8'), { data: [44, 255] })
  t.match(of([float(1e10), float(-1.5)], 'int32'), { data: [-(2 ** 31), -1] })
  t.match(of([float(65519), float(65520), float(1e-8)], 'float16'), { data: [0x7bff, 0x7c00, 0] })
  t.match(of([float(1.00390625), float(1.01171875)], 'bfloat16'), { data: [0x3f80, 0x3f82] }, 'ties go to even')
  t.throws(() => of([[1], [1, 2]]), { code: 'INVALID_ARGUMENT' }) // prettier-ignore
  t.throws(() => of(['a']), { code: 'INVALID_ARGUMENT' })
  t.strictSame(callOperator('prim::tolist', [tensor([[1, 2], [3, 4]], undefined, 'int64'), int(2), int(0)]), [[1, 2], [3, 4]]) // prettier-ignore
  t.throws(() => callOperator('prim::tolist', [tensor([1, 2]), int(1), int(0)]), { code: 'INVALID_ARGUMENT' })
  t.end()
})
