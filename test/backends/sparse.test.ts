import t from 'tap'
import { callOperator, type Input, int, type Tensor, tensor } from '../../src/index.js'

const call = (op: string, ...args: Input[]): Tensor => callOperator(`aten::${op}`, args) as Tensor
const indices = tensor([[2, 0, 2, 0], [1, 0, 1, 2]], undefined, 'int64') // prettier-ignore
const made = (): Tensor => call('sparse_coo_tensor.indices', indices, tensor([1, 2, 3, 4]), null, null, null, null)

t.test('coordinates in order, equal ones added', (t) => {
  const x = made()
  t.strictSame(x.shape, [3, 3])
  t.equal(callOperator('aten::is_coalesced', [x]), false)
  t.throws(() => call('indices', x), { code: 'INVALID_ARGUMENT' })
  const y = call('coalesce', x)
  t.equal(callOperator('aten::is_coalesced', [y]), true)
  t.strictSame(call('values', y).toArray(), [2, 4, 4])
  t.strictSame(call('indices', y).toArray(), [[0n, 0n, 2n], [0n, 2n, 1n]]) // prettier-ignore
  t.strictSame(call('to_dense', x).toArray(), [[2, 0, 4], [0, 0, 0], [0, 4, 0]]) // prettier-ignore
  t.end()
})

t.test('dense blocks', (t) => {
  const dense = tensor([[0, 0], [1, 2], [0, 3]]) // prettier-ignore
  const rows = call('to_sparse.sparse_dim', dense, int(1))
  t.equal(callOperator('aten::_nnz', [rows]), 2)
  t.equal(callOperator('aten::dense_dim', [rows]), 1)
  t.strictSame(call('to_dense', rows).toArray(), dense.toArray())
  t.strictSame(call('to_dense', call('to_sparse', dense)).toArray(), dense.toArray())
  t.end()
})

t.test('cleared', (t) => {
  const x = call('sparse_resize_and_clear_', made(), [4, 5], int(2), int(0))
  t.strictSame(x.shape, [4, 5])
  t.equal(callOperator('aten::_nnz', [x]), 0)
  t.end()
})

t.test('everything else takes dense tensors', (t) => {
  t.throws(() => call('add.Tensor', made(), tensor([1])), { code: 'INVALID_ARGUMENT', message: /sparse/ })
  t.throws(() => callOperator('aten::is_coalesced', [tensor([1])]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('sparse_coo_tensor.indices', tensor([[1]]), tensor([1]), null, null, null, null), { code: 'INVALID_ARGUMENT' })
  t.end()
})
