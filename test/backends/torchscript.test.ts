import t from 'tap'
import { callOperator, float, int, type Input, type Tensor, tensor, tuple } from '../../src/index.js'

const call = (op: string, ...args: Input[]): Tensor => callOperator(op, args) as Tensor
const a = tensor([[1, 2], [3, 4]]) // prettier-ignore
const b = tensor([[5, 6], [7, 8]]) // prettier-ignore

t.test('operators with any number of arguments', (t) => {
  t.strictSame(call('prim::VarConcat', a, b, int(1)).toArray(), [[1, 2, 5, 6], [3, 4, 7, 8]]) // prettier-ignore
  t.strictSame(call('prim::VarStack', a, b, int(0)).shape, [2, 2, 2])
  t.strictSame(call('aten::einsum.sublist', a, [0, 1], b, [1, 2], [0, 2]).toArray(), [[19, 22], [43, 50]]) // prettier-ignore
  t.throws(() => call('aten::einsum.sublist', a, [0, 52]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('prim::VarConcat', a, b), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('other names of tensor operators', (t) => {
  t.strictSame(call('prim::abs', tensor([-1, 2])).toArray(), [1, 2])
  t.equal(call('aten::as_tensor', a), a, 'the tensor itself')
  t.equal(call('aten::as_tensor', a, 'int64').dtype, 'int64')
  t.strictSame(call('aten::mT.a', a).toArray(), [[1, 3], [2, 4]]) // prettier-ignore
  t.strictSame(call('aten::_no_grad_fill_', tensor([1, 2]), float(3)).toArray(), [3, 3])
  t.end()
})

t.test('sorts whatever has an order', (t) => {
  const list: Input[] = [tuple(2, 'a'), tuple(1, 'b'), tuple(1, 'a')]
  t.strictSame(callOperator('aten::sorted.any', [list]), [[1, 'a'], [1, 'b'], [2, 'a']]) // prettier-ignore
  const mixed: Input[] = [float(2.5), int(2n ** 53n + 1n), int(2 ** 53)]
  callOperator('aten::sort.any', [mixed, true])
  t.strictSame(mixed.slice(0, 2), [2n ** 53n + 1n, 2n ** 53n])
  t.throws(() => callOperator('aten::sorted.any', [[null, 1]]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('None has nothing to unwrap', (t) => {
  t.throws(() => callOperator('aten::_unwrap_optional', [null]), { code: 'MODEL_ERROR', message: /Unwrapping null optional/ })
  t.end()
})
