import t from 'tap'
import * as ptlite from '../src/index.js'

const { callOperator, float, int, operators, PtliteError, setNumThreads, Tensor, tensor, tuple } = ptlite

t.test('exports the names that programs are written against', async (t) => {
  for (const name of [
    'loadModule',
    'callOperator',
    'tensor',
    'Tensor',
    'int',
    'float',
    'tuple',
    'cpu',
    'operators',
    'setNumThreads',
    'PtliteError',
  ]) {
    t.ok(name in ptlite, name)
  }
})

t.test('tensors from arrays, and back', async (t) => {
  const x = tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])
  t.equal(x.dtype, 'float32')
  t.same(x.shape, [2, 3])
  t.same(x.toArray(), [
    [1, 2, 3],
    [4, 5, 6],
  ])
  t.same(tensor([1n, 2n]).data(), BigInt64Array.of(1n, 2n))
  t.equal(tensor([true, false]).dtype, 'bool')
  t.same(tensor(new Uint8Array([1, 2]), [2, 1]).shape, [2, 1])
  t.throws(() => tensor([[1], [1, 2]]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => tensor([1, 2, 3], [2, 2]), { code: 'INVALID_ARGUMENT', message: /needs 4 elements, found 3/ })
  const transposed = Tensor.fromStorage(Float32Array.of(1, 2, 3, 4, 5, 6), { dtype: 'float32', shape: [3, 2], strides: [1, 3] })
  t.same(transposed.data(), Float32Array.of(1, 4, 2, 5, 3, 6))
  t.throws(() => Tensor.fromStorage(new Float32Array(4), { dtype: 'float32', shape: [3, 2] }), { code: 'INVALID_ARGUMENT' })
})

t.test('operators by name', async (t) => {
  const x = tensor([1, 2, 3])
  t.same((callOperator('aten::add.Tensor', [x, x]) as ptlite.Tensor).toArray(), [2, 4, 6])
  t.same((callOperator('aten::add.Tensor', [x, x, int(2)]) as ptlite.Tensor).toArray(), [3, 6, 9])
  t.equal((callOperator('aten::add.Scalar', [tensor([1n]), int(2)]) as ptlite.Tensor).dtype, 'int64')
  t.equal((callOperator('aten::add.Scalar', [tensor([1n]), float(2)]) as ptlite.Tensor).dtype, 'float32')
  const list = [1, 2]
  callOperator('aten::append.t', [list, int(3)])
  t.same(list, [1, 2, 3], 'lists are passed by reference')
  t.same(callOperator('prim::TupleIndex', [tuple(1, 'two'), int(-1)]), 'two')
  t.equal(callOperator('aten::add.int', [int(9007199254740991), int(1)]), 9007199254740992n)
  t.throws(() => callOperator('aten::ad.Tensor', [x, x]), { code: 'MISSING_OPERATOR', message: /aten::add/ })
  t.throws(() => callOperator('aten::add.Tensor', [x]), { code: 'INVALID_ARGUMENT', message: /'other' \(Tensor\) is missing/ })
  t.throws(() => callOperator('aten::add.Tensor', [x, 'y']), PtliteError)
  t.ok(operators().length > 1000)
})

t.test('a disposed tensor says so', async (t) => {
  const x = tensor([1, 2])
  x.dispose()
  t.throws(() => x.data(), { code: 'DISPOSED' })
  x.dispose()
})

t.test('thread counts are positive integers', async (t) => {
  setNumThreads(2)
  t.throws(() => setNumThreads(0), { code: 'INVALID_ARGUMENT' })
  t.throws(() => setNumThreads(1.5), { code: 'INVALID_ARGUMENT' })
})
