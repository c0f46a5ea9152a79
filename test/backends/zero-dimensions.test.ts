import t from 'tap'
import { callOperator, type Input, int, Tensor, tensor } from '../../src/index.js'

const scalar = tensor([1], [])
const quantized = Tensor.fromStorage(new Uint8Array(1), { dtype: 'quint8', shape: [], quant: { scale: 0.5, zeroPoint: 0 } })
const joined = Tensor.fromStorage(new Uint8Array(4), { dtype: 'quint8', shape: [4], quant: { scale: 0.5, zeroPoint: 0 } })

t.test('a dimension of a 0-d tensor is refused where PyTorch refuses it, before any kernel runs', (t) => {
  const cases: [string, ...Input[]][] = [
    ['aten::tensordot', scalar, scalar, [int(0)], [int(0)]],
    ['quantized::cat_out', [quantized, quantized], int(0), quantized],
    ['aten::fft_fft', scalar],
    ['aten::_fft_r2c', scalar, [int(0)], int(0), true],
    ['aten::cumulative_trapezoid.dx', scalar],
    ['aten::linalg_qr', scalar],
  ]
  for (const [op, ...args] of cases) t.throws(() => callOperator(op, args), { code: 'INVALID_ARGUMENT' }, op)
  t.end()
})

t.test('sizes below 0 and out tensors of another kind are refused', (t) => {
  const indices = tensor([0], [1, 1, 1], 'int64')
  t.throws(() => callOperator('aten::max_unpool2d', [tensor([1], [1, 1, 1]), indices, [-1, -1]]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::sparse_coo_tensor.size', [[-1]]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::cat.out', [[joined, joined], int(0), tensor([1])]), { code: 'INVALID_ARGUMENT' })
  const none = callOperator('aten::cumulative_trapezoid.dx', [tensor([], [2, 0], 'float32')]) as Tensor
  t.same(none.shape, [2, 0])
  t.throws(
    () =>
      callOperator('aten::conv2d.padding', [tensor([1], [1, 1, 1, 1]), tensor([1], [1, 1, 1, 1]), null, [1, 1], 'other', [1, 1], int(1)]),
    { code: 'INVALID_ARGUMENT' },
  )
  t.throws(() => callOperator('aten::_convolution_mode', [scalar, scalar, null, [1], 'same', [1], int(1)]), { code: 'INVALID_ARGUMENT' })
  t.end()
})
