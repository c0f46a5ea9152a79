import t from 'tap'
import { Tensor, tensor } from '../../src/index.js'

const x = tensor([
  [1, 2, 3],
  [4, 5, 6],
])

t.test('shapes', async (t) => {
  t.same(x.reshape([3, -1]).toArray(), [
    [1, 2],
    [3, 4],
    [5, 6],
  ])
  t.same(x.reshape([1, 2, 3]).flatten().shape, [6])
  t.same(x.reshape([1, 2, 3]).flatten(1).shape, [1, 6])
  t.same(x.permute([1, 0]).toArray(), x.transpose(0, -1).toArray())
  t.same(x.permute([1, 0]).toArray(), [
    [1, 4],
    [2, 5],
    [3, 6],
  ])
  t.same(x.unsqueeze(0).shape, [1, 2, 3])
  t.same(x.unsqueeze(-1).unsqueeze(0).squeeze().shape, [2, 3])
  t.same(x.unsqueeze(-1).unsqueeze(0).squeeze(0).shape, [2, 3, 1])
  t.throws(() => x.reshape([4, 2]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.permute([0, 0]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.transpose(0, 2), { code: 'INVALID_ARGUMENT' })
})

t.test('parts of it', async (t) => {
  t.same(x.slice(1, 1).toArray(), [
    [2, 3],
    [5, 6],
  ])
  t.same(x.slice(1, null, -1).toArray(), [
    [1, 2],
    [4, 5],
  ])
  t.same(x.slice(1, 0, 3, 2).toArray(), [
    [1, 3],
    [4, 6],
  ])
  t.same(x.select(0, -1).toArray(), [4, 5, 6])
  t.same(x.indexSelect(1, tensor([2n, 0n])).toArray(), [
    [3, 1],
    [6, 4],
  ])
  t.throws(() => x.select(0, 2), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.slice(0, 0, 1, 0), { code: 'INVALID_ARGUMENT' })
})

t.test('arithmetic has the sizes and dtypes of PyTorch', async (t) => {
  const column = tensor([[10], [20]])
  t.same(x.add(column).toArray(), [
    [11, 12, 13],
    [24, 25, 26],
  ])
  t.same(x.sub(1).toArray(), [
    [0, 1, 2],
    [3, 4, 5],
  ])
  t.same(x.mul(column).div(10).toArray(), [
    [1, 2, 3],
    [8, 10, 12],
  ])
  const integers = tensor([1n, 2n])
  t.equal(integers.add(1).dtype, 'int64')
  t.equal(integers.add(0.5).dtype, 'float32')
  t.same(integers.mul(2n).data(), BigInt64Array.of(2n, 4n))
  t.equal(integers.div(2).dtype, 'float32')
  t.same(x.matmul(x.transpose(0, 1)).toArray(), [
    [14, 32],
    [32, 77],
  ])
  t.throws(() => x.add(tensor([1, 2])), { code: 'INVALID_ARGUMENT' })
  t.throws(() => x.add('1' as never), { code: 'INVALID_ARGUMENT' })
})

t.test('reductions', async (t) => {
  t.equal(x.sum().item(), 21)
  t.same(x.sum(0).toArray(), [5, 7, 9])
  t.same(x.sum([0, 1], true).toArray(), [[21]])
  t.same(x.sum(undefined, true).shape, [1, 1])
  t.same(x.mean(1).toArray(), [2, 5])
  t.equal(x.mean().item(), 3.5)
  t.equal(x.amax().item(), 6)
  t.same(x.amin(1, true).toArray(), [[1], [4]])
  t.equal(x.argmax().item(), 5)
  t.same(x.argmax(0).toArray(), [1, 1, 1])
  t.same(x.argmax(-1, true).shape, [2, 1])
})

t.test('what comes behind a classifier', async (t) => {
  const scores = tensor([[0, Math.log(3), 0]])
  const [values, indices] = scores.softmax().topk(2)
  t.same(indices.toArray(), [[1, 0]])
  t.ok(Math.abs((values.select(1, 0).item() as number) - 0.6) < 1e-6)
  t.ok(Math.abs((scores.softmax(-1).sum().item() as number) - 1) < 1e-6)
  t.same(tensor([0]).sigmoid().toArray(), [0.5])
  t.equal(indices.dtype, 'int64')
})

t.test('dtypes and copies', async (t) => {
  t.equal(x.to('float16').dtype, 'float16')
  t.same(x.to('int32').data(), Int32Array.of(1, 2, 3, 4, 5, 6))
  const copy = x.clone()
  t.same(copy.toArray(), x.toArray())
  copy.dispose()
  t.equal(x.sum().item(), 21)
  t.throws(() => x.to('float' as never), { code: 'INVALID_ARGUMENT' })
})

t.test('only tensors have them', async (t) => {
  const fake = Object.create(Tensor.prototype) as Tensor
  t.throws(() => fake.reshape([1]), { name: 'PtliteError' })
  t.throws(() => Tensor.prototype.add.call(1 as never, 1), { name: 'PtliteError' })
  const gone = tensor([1])
  gone.dispose()
  t.throws(() => gone.add(1), { code: 'DISPOSED' })
})

t.test('using', { skip: (Symbol.dispose as symbol | undefined) === undefined && 'Node has no Symbol.dispose' }, async (t) => {
  const y = tensor([1, 2])
  y[Symbol.dispose]()
  t.throws(() => y.data(), { code: 'DISPOSED' })
})
