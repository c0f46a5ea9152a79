import t from 'tap'
import { callOperator, type Tensor, tensor } from '../../src/index.js'

t.test('tokens of exported programs go through their checks', (t) => {
  const token = callOperator('aten::_make_dep_token', []) as Tensor
  t.same([token.dtype, token.shape], ['float32', []])
  const ints = callOperator('aten::_make_dep_token', ['int64']) as Tensor
  t.same([ints.dtype, ints.shape], ['int64', []])
  const check = (holds: boolean): unknown =>
    callOperator('aten::_functional_assert_async.msg', [tensor([holds ? 1 : 0], [1], 'bool'), 'no', token])
  t.equal((check(true) as Tensor).dtype, 'float32')
  t.throws(() => check(false), { name: 'PtliteError', message: /no/ })
  t.end()
})
