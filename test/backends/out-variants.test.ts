import t from 'tap'
import { callOperator, type Input, int, Tensor, tensor } from '../../src/index.js'

/** Rules of `out=` and in-place forms that all operators share. Expected values are PyTorch's. */

const run = (op: string, ...args: Input[]): Tensor => callOperator(`aten::${op}`, args) as Tensor
const numbers = (x: Tensor): number[] => Array.from(run('contiguous', x).data() as Float32Array, Number)
const range = (n: number): Tensor => run('arange', n, 'float32')
/** Four indices on one element. */
const expanded = (): Tensor => Tensor.fromStorage(new Float32Array(1), { dtype: 'float32', shape: [4], strides: [0] })

t.test('one implementation: the functional, the in-place and the out form agree', (t) => {
  for (const [op, ...rest] of [
    ['add', tensor([1, 2, 3, 4]), int(1)],
    ['mul', tensor([2, 2, 2, 2])],
    ['sigmoid'],
    ['clamp', int(1), int(2)],
  ] as [
    string,
    ...Input[],
  ][]) /* prettier-ignore */ {
    const name = rest[0] instanceof Tensor ? `${op}.Tensor` : op
    const want = numbers(run(name, range(4), ...rest))
    const out = tensor([0])
    t.equal(run(`${op}.out`, range(4), ...rest, out), out)
    t.same(numbers(out), want, `${op}.out`)
    const self = range(4)
    t.equal(run(name.replace(op, `${op}_`), self, ...rest), self)
    t.same(numbers(self), want, `${op}_`)
  }
  t.end()
})

t.test('an out tensor is resized and keeps its dtype', (t) => {
  const out = tensor([7, 7], [2], 'float64')
  run('add.out', range(3), range(3), int(1), out)
  t.match(out, { shape: [3], dtype: 'float64' })
  t.same(numbers(out), [0, 2, 4])
  const ints = tensor([0], [1], 'int64')
  t.throws(() => run('add.out', range(3), range(3), int(1), ints), { message: /float32 can't be cast to the desired output type int64/ })
  const view = run('slice.Tensor', run('zeros', [6], 'float32'), int(0), int(0), int(6), int(2))
  run('add.out', range(3), range(3), int(1), view)
  t.same(numbers(view), [0, 2, 4], 'strides of an out of the right shape stay')
  t.same(view.strides, [2])
  t.end()
})

t.test('in place the shape stays', (t) => {
  t.throws(() => run('add_.Tensor', range(3), run('zeros', [2, 3], 'float32'), int(1)), { message: /doesn't match the broadcast shape/ })
  t.throws(() => run('add_.Tensor', tensor([1], [1], 'int64'), range(1), int(1)), { code: 'INVALID_DTYPE' })
  t.end()
})

t.test('a tensor that shares memory with itself, or in part with an input, is not written', (t) => {
  for (const call of [
    () => run('add_.Tensor', expanded(), range(4), int(1)),
    () => run('add.out', range(4), range(4), int(1), expanded()),
    () => run('sigmoid.out', range(4), expanded()),
    () => run('roll.out', range(4), [int(1)], [int(0)], expanded()),
    () => run('copy_', expanded(), range(4)),
  ]) {
    t.throws(call, { message: /more than one element of the written-to tensor/ })
  }
  const whole = range(5)
  const part = (from: number): Tensor => run('slice.Tensor', whole, int(0), int(from), int(from + 4), int(1))
  t.throws(() => run('add.out', part(0), range(4), int(1), part(1)), {
    message: /some elements of the input tensor and the written-to tensor/,
  })
  t.same(numbers(run('add.out', part(0), range(4), int(1), part(0))), [0, 2, 4, 6], 'the same elements are in place')
  t.end()
})

t.test('variants that autogen derives', (t) => {
  const out = tensor([0], [1], 'float64')
  t.equal(run('roll.out', range(4), [int(1)], [int(0)], out), out)
  t.match(out, { dtype: 'float64', shape: [4] })
  t.same(numbers(out), [3, 0, 1, 2])
  t.same(numbers(run('zeros.out', [int(2)], tensor([1], [1], 'int64'))), [0, 0])
  const self = range(4)
  t.same(numbers(run('roll.out', self, [int(1)], [int(0)], self)), [3, 0, 1, 2], 'into its own input')
  const whole = range(4)
  const [head, tail] = [
    run('slice.Tensor', whole, int(0), int(0), int(3), int(1)),
    run('slice.Tensor', whole, int(0), int(1), int(4), int(1)),
  ]
  t.same(numbers(run('roll.out', head, [int(1)], [int(0)], tail)), [2, 0, 1], 'the result is computed before it is written')
  const parts = [tensor([0, 0]), tensor([0, 0], [2], 'int32')]
  t.equal(run('unbind_copy.int_out', run('view', range(4), [2, 2]), int(0), parts), null)
  t.same(parts.map(numbers), [[0, 1], [2, 3]]) // prettier-ignore
  t.throws(() => run('unbind_copy.int_out', run('view', range(4), [2, 2]), int(0), [parts[0]!]), {
    message: /expected 2 out tensors, found 1/,
  })
  t.end()
})

t.test('pooling, softmax and triangles take an out tensor of their own dtype alone', (t) => {
  const x = tensor([1, 2, 3, 4], [1, 1, 2, 2])
  const wide = (): Tensor => tensor([0], [1], 'float64')
  const calls: [string, unknown[]][] = [
    ['aten::_softmax.out', [x, 3, false, wide()]],
    ['aten::_log_softmax.out', [x, 3, false, wide()]],
    ['aten::avg_pool2d.out', [x, [2], [1], [0], false, true, null, wide()]],
    ['aten::adaptive_avg_pool2d.out', [x, [1, 1], wide()]],
    ['aten::max_pool2d_with_indices.out', [x, [2], [1], [0], [1], false, tensor([0], [1]), wide()]],
    ['aten::triu.out', [x, 0, wide()]],
    ['aten::tril.out', [x, 0, wide()]],
  ]
  for (const [op, args] of calls) t.throws(() => callOperator(op, args as never[]), { code: 'INVALID_DTYPE' }, op)
  t.end()
})
