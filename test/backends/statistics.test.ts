import t from 'tap'
import { callOperator, float, type Input, int, type Tensor, tensor } from '../../src/index.js'

// expected values from PyTorch 1.13
const a = tensor([[1, 2, 3], [4, 0, -1]]) // prettier-ignore
const run = (op: string, ...args: Input[]): number[] => Array.from((callOperator(`aten::${op}`, args) as Tensor).data() as Float32Array)

type Assertions = Pick<typeof t, 'equal' | 'ok'>

const close = (t: Assertions, got: number[], want: number[]): void => {
  t.equal(got.length, want.length)
  got.forEach((x, i) => t.ok(Math.abs(x - want[i]!) < 1e-6, `${x} is near ${want[i]}`))
}

t.test('cosine similarity', (t) => {
  close(t, run('cosine_similarity', a, tensor([1, 0, 1]), int(1)), [0.75592893, 0.51449579])
  close(t, run('cosine_similarity', tensor([[0, 0]]), tensor([[1, 0]])), [0])
  const ints = tensor([1, 2], undefined, 'int64')
  t.throws(() => run('cosine_similarity', ints, ints, int(0)), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('covariance and correlation', (t) => {
  close(t, run('cov', a), [1, -2.5, -2.5, 7])
  close(t, run('cov', a, int(0), tensor([1, 2, 1], undefined, 'int64')), [0.5, -1.25, -1.25, 3.6875])
  close(t, run('corrcoef', a), [1, -0.94491118, -0.94491118, 1])
  t.throws(() => run('cov', a, int(1), null, tensor([1, -1, 1])), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('sums to a shape that broadcasts', (t) => {
  close(t, run('sum_to_size', a, [1, 3]), [5, 2, 2])
  close(t, run('sum_to_size', a, [1]), [9])
  t.throws(() => run('sum_to_size', a, [2]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('max pooling undone', (t) => {
  const pooled = tensor([[[3, 5, 2]]]) // prettier-ignore
  const places = tensor([[[3, 1, 2]]], undefined, 'int64') // prettier-ignore
  close(t, run('max_unpool2d', pooled, places, [2, 3]), [0, 5, 2, 3, 0, 0])
  t.throws(() => run('max_unpool2d', pooled, places, [1, 3]), { code: 'INVALID_ARGUMENT' }, 'a place outside')
  t.end()
})

t.test('quantiles of several fractions lie side by side', (t) => {
  const x = tensor(
    Float32Array.from({ length: 12 }, (_, i) => i),
    [3, 4],
  )
  const found = callOperator('aten::quantile', [x, tensor([0.25, 0.5]), int(1), false, 'linear']) as Tensor
  t.strictSame([found.toArray(), found.strides], [[[0.75, 4.75, 8.75], [1.5, 5.5, 9.5]], [1, 2]]) // prettier-ignore
  t.end()
})

t.test('norms of matrices without elements', (t) => {
  const none = tensor(new Float32Array(0), [0, 3])
  for (const order of [1, 2, Infinity])
    t.equal((callOperator('aten::linalg_norm', [none, float(order), null, false, null]) as Tensor).item(), 0)
  t.throws(() => callOperator('aten::linalg_norm', [none, float(-2), null, false, null]), { code: 'INVALID_ARGUMENT' })
  t.end()
})
