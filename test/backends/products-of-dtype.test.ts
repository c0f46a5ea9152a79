import t from 'tap'
import { callOperator, type Input, int, tensor, type Tensor } from '../../src/index.js'

/** Forms of products and convolutions that PyTorch has on GPUs alone. */

const run = (op: string, ...args: Input[]): Tensor => callOperator(`aten::${op}`, args) as Tensor
const numbers = (x: Tensor): number[] => Array.from(run('to.dtype', x, 'float64').data() as Float64Array)
const range = (...shape: number[]): Tensor => run('reshape', run('arange', shape.reduce((a, b) => a * b, 1) + 1, 'float32'), [-1])
/** Numbers from 1 on, none of them rounded by the dtypes below. */
const counting = (shape: number[], dtype: string): Tensor =>
  run('to.dtype', run('reshape', run('slice.Tensor', range(...shape), 0, 1), shape.map(int)), dtype)

t.test('a product of halves in float32 is not rounded to theirs', (t) => {
  for (const dtype of ['bfloat16', 'float16']) {
    const [a, b] = [counting([2, 3], dtype), run('mul.Scalar', counting([3, 4], dtype), int(100))]
    const wide = (x: Tensor): Tensor => run('to.dtype', x, 'float32')
    const exact = numbers(run('mm', wide(a), wide(b)))
    const product = run('mm.dtype', a, b, 'float32')
    t.equal(product.dtype, 'float32')
    t.same(numbers(product), exact)
    t.notSame(numbers(run('mm', a, b)), exact)
    t.same(numbers(run('bmm.dtype', run('unsqueeze', a, 0), run('unsqueeze', b, 0), 'float32')), exact)
    const added = run('addmm.dtype', counting([4], dtype), a, b, 'float32', int(2), int(1))
    t.same(numbers(added), exact.map((x, i) => x + 2 * ((i % 4) + 1))) // prettier-ignore
    const batched = run('baddbmm.dtype', counting([1, 1, 4], 'float32'), run('unsqueeze', a, 0), run('unsqueeze', b, 0), 'float32')
    t.same(numbers(batched), exact.map((x, i) => x + (i % 4) + 1)) // prettier-ignore
    const out = tensor([0], [1], 'float32')
    t.equal(run('mm.dtype_out', a, b, 'float32', out), out)
    t.same(numbers(out), exact)
    t.throws(() => run('mm.dtype', a, b, 'float64'), { message: /float64/ })
  }
  t.throws(() => run('mm.dtype', counting([2, 2], 'float32'), counting([2, 2], 'float32'), 'bfloat16'), { message: /bfloat16/ })
  t.throws(() => run('mm.dtype', counting([2, 2], 'float16'), counting([2, 2], 'float32'), 'float32'), { code: 'INVALID_DTYPE' })
  t.end()
})

t.test('convolutions of one channel each', (t) => {
  const pair = (a: number, b = a): Input => [int(a), int(b)]
  const [x, weight, bias] = [counting([2, 3, 6, 5], 'float32'), counting([6, 1, 3, 2], 'float32'), counting([6], 'float32')]
  const want = numbers(run('conv2d', x, weight, bias, pair(2, 1), pair(1, 0), pair(1, 2), int(3)))
  t.same(numbers(run('_conv_depthwise2d', x, weight, pair(3, 2), bias, pair(2, 1), pair(1, 0), pair(1, 2))), want)
  const out = tensor([0], [1], 'float32')
  run('_conv_depthwise2d.out', x, weight, pair(3, 2), bias, pair(2, 1), pair(1, 0), pair(1, 2), out)
  t.same(numbers(out), want)
  t.throws(() => run('_conv_depthwise2d', x, weight, pair(2, 2), bias, pair(1), pair(0), pair(1)), { message: /\[channels, 1, 2, 2\]/ })

  const three = (n: number): Input => [int(n), int(n), int(n)]
  const [volume, cube] = [counting([1, 2, 3, 4, 3], 'float32'), counting([2, 1, 2, 2, 2], 'float32')]
  const deep = numbers(run('conv3d', volume, cube, null, three(1), three(1), three(1), int(2)))
  t.same(numbers(run('conv_depthwise3d', volume, cube, three(2), null, three(1), three(1), three(1))), deep)

  const full = counting([4, 3, 2, 2], 'float32')
  const plain = numbers(run('conv2d', x, full, null, pair(2), pair(1), pair(1), int(1)))
  t.same(numbers(run('_nnpack_spatial_convolution', x, full, null, pair(1), pair(2))), plain)
  t.end()
})

t.test('the rest of a dropout', (t) => {
  const mask = tensor([1, 0, 1], [3], 'uint8')
  t.same(numbers(run('_masked_scale', tensor([1, 2, -3]), mask, 2)), [2, 0, -6])
  t.throws(() => run('_masked_scale', tensor([1], [1], 'int64'), mask, 2), { code: 'INVALID_DTYPE' })
  t.end()
})
