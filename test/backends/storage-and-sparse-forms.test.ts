import t from 'tap'
import { callOperator, type Input, int, tensor, type Tensor } from '../../src/index.js'
import { set__source_Storage, set__source_Storage_storage_offset } from '../../runtime/operators/composite/storage.js'

const run = (op: string, ...args: Input[]): Tensor => callOperator(`aten::${op}`, args) as Tensor
const numbers = (x: Tensor): number[] => Array.from(run('contiguous', x).data() as Float32Array, Number)
const range = (n: number): Tensor => run('arange', n, 'float32')

t.test('a tensor takes over a storage', (t) => {
  const source = range(6)
  const all = set__source_Storage(tensor([0]), source.storage)
  t.match(all, { shape: [6], strides: [1], offset: 0 })
  const part = set__source_Storage_storage_offset(tensor([0]), source.storage, 1, [2, 2], [1, 2])
  t.same(numbers(part), [1, 3, 2, 4])
  run('fill_.Scalar', part, int(9))
  t.same(numbers(source), [0, 9, 9, 9, 9, 5], 'it is the same memory')
  t.throws(() => set__source_Storage_storage_offset(tensor([0]), source.storage, 4, [2, 2], []), { message: /the storage has 24/ })
  t.end()
})

t.test('memory with dimensions in an order of their own', (t) => {
  const made = run('empty_permuted', [2, 3, 4].map(int), [2, 0, 1].map(int), 'float32')
  t.match(made, { shape: [2, 3, 4], strides: [3, 1, 6] })
  for (const layout of [
    [0, 1],
    [0, 0, 1],
    [-1, 0, 1],
  ]) /* prettier-ignore */ {
    t.throws(() => run('empty_permuted', [2, 3, 4].map(int), layout.map(int)), { message: /each of 3 dimensions once/ })
  }
  t.end()
})

t.test('vectors of channels as images, and numbers of rows', (t) => {
  t.same(run('_ncf_unsqueeze', range(3), int(4)).shape, [1, 3, 1, 1])
  t.throws(() => run('_ncf_unsqueeze', range(3), int(1e9)), { message: /2 to 64 dimensions/ })
  t.same(run('_ncf_view', range(6), [2, 3, 4].map(int), int(1)).shape, [2, 3, 1])
  t.end()
})

t.test('norms and dense forms of sparse tensors', (t) => {
  const indices = tensor([0, 0, 1], [1, 3], 'int64')
  const sparse = run('sparse_coo_tensor.indices_size', indices, tensor([1, 2, -4]), [int(3)])
  t.same(numbers(run('native_norm', sparse)), [5], 'equal coordinates add up')
  t.same(numbers(run('native_norm.ScalarOpt_dim_dtype', sparse, int(1), [int(0)], false, null)), [7])
  t.throws(() => run('native_norm.ScalarOpt_dim_dtype', sparse, int(1), [int(0)], true, null), { message: /none kept/ })
  t.throws(() => run('native_norm', range(3)), { message: /sparse/ })
  t.same(numbers(run('_to_dense', sparse)), [3, -4, 0])
  t.throws(() => run('_to_dense', range(3)), { message: /sparse/ })
  t.end()
})

t.test('eigenvalues of a rotation', (t) => {
  const turn = tensor([0, -1, 1, 0], [2, 2], 'float64')
  const values = run('view_as_real', run('_linalg_eigvals', turn)).data() as Float64Array
  t.same([...values].map(Math.round).sort(), [-1, 0, 0, 1])
  t.end()
})
