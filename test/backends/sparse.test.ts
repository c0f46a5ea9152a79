import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { callOperator, type Input, int, loadModule, type Tensor, tensor } from '../../src/index.js'

interface Stored {
  readonly dtype: 'float32' | 'int64'
  readonly shape: number[]
  readonly data: number[]
}

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
  t.strictSame(call('indices', y).toArray(), [[0, 0, 2], [0, 2, 1]]) // prettier-ignore
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

t.test('everything but products takes dense tensors', (t) => {
  t.throws(() => call('add.Tensor', made(), tensor([1])), { code: 'INVALID_ARGUMENT', message: /sparse/ })
  t.throws(() => callOperator('aten::is_coalesced', [tensor([1])]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('sparse_coo_tensor.indices', tensor([[1]]), tensor([1]), null, null, null, null), { code: 'INVALID_ARGUMENT' })
  t.end()
})

const COMPRESSED = tensor([[0, 1.5, 0, 0], [2, 0, -3, 0], [0, 0, 0, 0]]) // prettier-ignore

t.test('rows and columns compressed', (t) => {
  const rows = call('to_sparse_csr', COMPRESSED)
  t.strictSame(call('crow_indices', rows).toArray(), [0, 1, 3, 3])
  t.strictSame(call('col_indices', rows).toArray(), [1, 0, 2])
  t.strictSame(call('values', rows).toArray(), [1.5, 2, -3])
  t.equal(callOperator('prim::layout', [rows]), 2)
  t.equal(callOperator('prim::is_sparse', [rows]), false)
  const columns = call('to_sparse_csc', COMPRESSED)
  t.strictSame(call('ccol_indices', columns).toArray(), [0, 1, 2, 3, 3])
  t.strictSame(call('row_indices', columns).toArray(), [1, 0, 1])
  for (const x of [rows, columns, call('t', call('t', rows)), call('to_sparse', rows)]) {
    t.strictSame(call('to_dense', x).toArray(), COMPRESSED.toArray())
  }
  t.strictSame(call('to_dense', call('t', rows)).toArray(), call('t', COMPRESSED).toArray())
  t.throws(() => call('crow_indices', columns), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('damaged indices of compressed layouts are refused', (t) => {
  const made = (starts: number[], plain: number[]): Tensor =>
    call(
      'sparse_csr_tensor.crow_col_value_size',
      tensor(starts, undefined, 'int64'),
      tensor(plain, undefined, 'int64'),
      tensor([1, 2]),
      [2, 3],
    )
  t.strictSame(call('to_dense', made([0, 1, 2], [2, 0])).toArray(), [[0, 0, 1], [2, 0, 0]]) // prettier-ignore
  for (const [starts, plain] of [
    [
      [0, 1, 2],
      [3, 0],
    ],
    [
      [0, 1, 2],
      [-1, 0],
    ],
    [
      [0, 3, 2],
      [0, 1],
    ],
    [
      [1, 1, 2],
      [0, 1],
    ],
    [
      [0, 2],
      [0, 1],
    ],
    [[0, 1, 2], [0]],
  ]) {
    // prettier-ignore
    t.throws(() => made(starts!, plain!), { code: 'INVALID_ARGUMENT' })
  }
  t.end()
})

t.test('products', (t) => {
  const x = tensor([[1, 2], [3, 4], [5, 6], [7, 8]]) // prettier-ignore
  const want = call('mm', COMPRESSED, x).toArray()
  for (const sparse of ['to_sparse', 'to_sparse_csr', 'to_sparse_csc'].map((name) => call(name, COMPRESSED))) {
    for (const name of ['mm', 'matmul', '_sparse_mm']) t.strictSame(call(name, sparse, x).toArray(), want, name)
    t.strictSame(call('linear', call('t', x), sparse).toArray(), call('linear', call('t', x), COMPRESSED).toArray())
    t.strictSame(
      call('mv', sparse, call('select.int', x, 1, 0)).toArray(),
      (want as number[][]).map((row) => row[0]),
    )
    t.strictSame(call('mm', call('t', x), call('t', sparse)).toArray(), call('t', call('mm', COMPRESSED, x)).toArray())
    t.throws(() => call('mm', sparse, call('t', x)), { code: 'INVALID_ARGUMENT' })
    t.throws(() => call('mm', sparse, call('to.dtype', x, 'float64')), { code: 'INVALID_DTYPE' })
    const reduced = call('_sparse_mm.reduce', sparse, x, 'amax')
    t.strictSame(reduced.toArray(), [[4.5, 6], [2, 4], [0, 0]]) // prettier-ignore
  }
  t.end()
})

for (const name of ['weights', 'made', 'graph']) {
  for (const extension of ['pt', 'ptl']) {
    t.test(`${name}.${extension} gives what PyTorch gives`, async (t) => {
      const folder = new URL('../fixtures/sparse/', import.meta.url)
      const module = await loadModule(fileURLToPath(new URL(`${name}.${extension}`, folder)))
      const calls = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as { args: Stored[]; want: Stored[] }[]
      for (let round = 0; round < 3; round++) {
        for (const { args, want } of calls) {
          const got = module.forward(...args.map(({ data, shape, dtype }) => tensor(data, shape, dtype))) as Tensor[]
          t.equal(got.length, want.length)
          got.forEach((x, i) => {
            t.strictSame([x.dtype, x.shape], [want[i]!.dtype, want[i]!.shape])
            const numbers = Array.from(x.data(), Number)
            t.ok(
              want[i]!.data.every((n, k) => Math.abs(n - numbers[k]!) < 1e-5),
              `result ${i} of round ${round}`,
            )
          })
        }
      }
      module.dispose()
    })
  }
}
