import t from 'tap'
import { cat, stack, type Tensor, tensor } from '../../src/index.js'

const x = tensor([
  [1, 2],
  [3, 4],
])

t.test('tensors are joined as PyTorch joins them', async (t) => {
  t.same(cat([x, tensor([[5, 6]])]).toArray(), [
    [1, 2],
    [3, 4],
    [5, 6],
  ])
  t.same(cat([x, tensor([[5n], [6n]])], -1).toArray(), [
    [1, 2, 5],
    [3, 4, 6],
  ])
  t.same(stack([x, x.add(4)]).shape, [2, 2, 2])
  t.same(stack([tensor([1, 2]), tensor([3, 4]), tensor([5, 6])], 1).toArray(), [
    [1, 3, 5],
    [2, 4, 6],
  ])
})

t.test('what does not fit together is refused', async (t) => {
  t.throws(() => cat([]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => cat([x, tensor([[1, 2, 3]])]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => cat([x, x], 2), { code: 'INVALID_ARGUMENT' })
  t.throws(() => stack([x, tensor([1])]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => cat(x as unknown as Tensor[]), { code: 'INVALID_ARGUMENT' })
  const gone = tensor([[1, 2]])
  gone.dispose()
  t.throws(() => cat([x, gone]), { code: 'DISPOSED' })
})
