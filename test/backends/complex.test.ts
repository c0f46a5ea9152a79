import t from 'tap'
import { callOperator, complex, type Input, type Tensor, tensor } from '../../src/index.js'

const z = callOperator('aten::view_as_complex', [tensor([1, 2, 3, 4], [2, 2], 'float32')]) as Tensor
const pairs = (x: unknown): unknown => (callOperator('aten::view_as_real', [x as Tensor]) as Tensor).toArray()

t.test('complex tensors are filled with real numbers', (t) => {
  for (const dtype of ['complex64', 'complex128']) {
    t.strictSame(pairs(callOperator('aten::full', [[2], 2.5, dtype])), [[2.5, 0], [2.5, 0]]) // prettier-ignore
    t.strictSame(pairs(callOperator('aten::ones', [[1], dtype])), [[1, 0]])
    t.strictSame(pairs(callOperator('aten::zeros', [[1], dtype])), [[0, 0]])
    const strided = callOperator('aten::slice.Tensor', [callOperator('aten::zeros', [[3], dtype]) as Tensor, 0, 0, 3, 2]) as Tensor
    t.strictSame(pairs(callOperator('aten::fill_.Scalar', [strided, -3])), [[-3, 0], [-3, 0]]) // prettier-ignore
  }
  t.end()
})

t.test('elements of complex tensors are complex numbers', (t) => {
  t.strictSame(z.toArray(), [complex(1, 2), complex(3, 4)])
  const double = tensor([0.1, -0.2], [], 'complex128')
  t.strictSame([double.toArray(), double.item(), callOperator('aten::item', [double])], new Array(3).fill(complex(0.1, -0.2)))
  t.equal(callOperator('aten::is_nonzero', [tensor([0, 1], [1], 'complex64')]), true)
  t.throws(() => z.item(), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('elements are put by index', (t) => {
  const put = callOperator('aten::index_put', [z, [tensor([0], [1], 'int64')], callOperator('aten::full', [[1], 7, 'complex64'])])
  t.strictSame(pairs(put), [[7, 0], [3, 4]]) // prettier-ignore
  t.end()
})

/** Of these dtypes and values, which count up. */
const counted = (shape: number[], part: 'float32' | 'float64'): Tensor => {
  const values = Array.from({ length: 2 * shape.reduce((a, b) => a * b, 1) }, (_, i) => i + 1)
  return callOperator('aten::view_as_complex', [tensor(values, [...shape, 2], part)]) as Tensor
}

t.test('operators that move elements move both parts', (t) => {
  const mask = tensor([1, 0, 1], [3], 'bool')
  const index = tensor([1n, 0n], [2], 'int64')
  const calls: [string, (z: (shape: number[]) => Tensor) => Input[], number[]][] = [
    ['aten::masked_fill.Scalar', (z) => [z([3]), mask, 7], [7, 0, 3, 4, 7, 0]],
    ['aten::masked_select', (z) => [z([3]), mask], [1, 2, 5, 6]],
    ['aten::masked_scatter', (z) => [z([3]), mask, z([3])], [1, 2, 3, 4, 3, 4]],
    ['aten::index_select', (z) => [z([3]), 0, index], [3, 4, 1, 2]],
    ['aten::gather', (z) => [z([3]), 0, index], [3, 4, 1, 2]],
    ['aten::index_fill.int_Scalar', (z) => [z([3]), 0, tensor([1n], [1], 'int64'), 7], [1, 2, 7, 0, 5, 6]],
    ['aten::scatter.value', (z) => [z([3]), 0, tensor([1n], [1], 'int64'), 7], [1, 2, 7, 0, 5, 6]],
    ['aten::scatter.src', (z) => [z([3]), 0, index, z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::index_copy', (z) => [z([3]), 0, index, z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::index_put', (z) => [z([3]), [index], z([2])], [3, 4, 1, 2, 5, 6]],
    ['aten::replication_pad1d', (z) => [z([1, 3]), [1, 2]], [1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6]],
    ['aten::constant_pad_nd', (z) => [z([1, 3]), [1, 1], 3], [3, 0, 1, 2, 3, 4, 5, 6, 3, 0]],
    ['aten::upsample_nearest1d', (z) => [z([1, 1, 2]), [4]], [1, 2, 1, 2, 3, 4, 3, 4]],
    ['aten::flip', (z) => [z([3]), [0]], [5, 6, 3, 4, 1, 2]],
  ]
  for (const part of ['float32', 'float64'] as const) {
    for (const [name, args, want] of calls) {
      const got = callOperator(
        name,
        args((shape) => counted(shape, part)),
      ) as Tensor
      t.strictSame(Array.from(got.data(), Number), want, `${name} of ${got.dtype}`)
    }
  }
  t.end()
})

t.test('kernels of real numbers refuse complex ones', (t) => {
  const calls: [string, Input[]][] = [
    ['aten::max', [z]],
    ['aten::amax', [z, [0]]],
    ['aten::aminmax', [z]],
    ['aten::sort', [z]],
    ['aten::topk', [z, 1]],
    ['aten::cumsum', [z, 0]],
    ['aten::argmax', [z]],
    ['aten::softmax.int', [z, 0]],
    ['aten::unique_dim', [z, 0]],
    ['aten::relu', [z]],
    ['aten::searchsorted.Tensor', [z, z]],
  ]
  for (const [name, args] of calls) t.throws(() => callOperator(name, args), { name: 'PtliteError' }, name)
  t.end()
})
