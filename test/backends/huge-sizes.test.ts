import t from 'tap'
import { callOperator, PtliteError, Tensor, tensor } from '../../src/index.js'
import type { Value } from '../../runtime/tensor/value.js'

// Sizes that no machine can hold, or that take a list of JavaScript beyond its limits, are refused before anything is allocated.

const x = tensor(new Float32Array(8), [8])
const empty = tensor(new Float32Array(0), [0])
const counts = tensor(new BigInt64Array([2n ** 31n - 1n, 1n]), [2])
const index = tensor(new BigInt64Array([0n]), [1])

const CALLS: readonly (readonly [operator: string, args: Value[]])[] = [
  ['aten::zeros', [[2 ** 31, 2 ** 31, 2 ** 10]]],
  ['aten::randn', [[2 ** 31, 2 ** 31, 4]]],
  ['aten::randint', [10, [2 ** 40, 2 ** 20]]],
  ['aten::eye', [2 ** 33]],
  ['aten::arange', [2 ** 60]],
  ['aten::linspace', [0, 1, 2 ** 45]],
  ['aten::hann_window', [2 ** 50]],
  ['aten::repeat', [x, [2 ** 40, 2 ** 30]]],
  ['aten::repeat_interleave.Tensor', [counts]],
  ['aten::constant_pad_nd', [x, [2 ** 50, 2 ** 50]]],
  ['aten::one_hot', [index, 2 ** 60]],
  ['aten::triu_indices', [2 ** 30, 2 ** 30]],
  ['aten::tril_indices', [2 ** 33, 2 ** 33]],
  ['aten::combinations', [tensor(new Float32Array(200), [200]), 100]],
  ['aten::chunk', [empty, 2 ** 40, 0]],
  ['aten::tensor_split.sections', [x, 2 ** 40, 0]],
  ['aten::unbind.int', [tensor(new Float32Array(0), [2 ** 31, 0]), 0]],
  ['aten::mvlgamma', [x, 2 ** 40]],
]

for (const [operator, args] of CALLS) {
  t.test(operator, (t) => {
    const error = t.throws(() => callOperator(operator, args), PtliteError) as PtliteError
    t.match(error.code, /^(OUT_OF_MEMORY|INVALID_ARGUMENT)$/)
    t.end()
  })
}

t.test('results that are empty or small stay possible', (t) => {
  const shapeOf = (operator: string, args: Value[]): readonly number[] => (callOperator(operator, args) as typeof x).shape
  t.strictSame(shapeOf('aten::combinations', [x, 2 ** 20]), [0, 2 ** 20])
  t.strictSame(shapeOf('aten::combinations', [x, 2]), [28, 2])
  t.strictSame(shapeOf('aten::combinations', [x, 12, true]), [50388, 12])
  const one = tensor(new Float32Array(1), [1])
  t.strictSame(shapeOf('aten::combinations', [one, 2 ** 20, true]), [1, 2 ** 20])
  t.strictSame(shapeOf('aten::tril_indices', [3, 3]), [2, 6])
  t.strictSame(shapeOf('aten::zeros', [[2 ** 20, 2 ** 30, 0]]), [2 ** 20, 2 ** 30, 0])
  t.end()
})

t.test('windows with settings beyond what kernels count to', (t) => {
  const image = tensor(new Float32Array(42).fill(1), [1, 1, 6, 7])
  const filter = tensor(new Float32Array(9).fill(1), [1, 1, 3, 3])
  const quant = { scale: 1, zeroPoint: 0 }
  const bytes = Tensor.fromStorage(new Uint8Array(42), { dtype: 'quint8', shape: [1, 1, 6, 7], quant })
  const weight = Tensor.fromStorage(new Int8Array(9), { dtype: 'qint8', shape: [1, 1, 3, 3], quant })
  for (const huge of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 40]) {
    const pair = [1, huge]
    const packed = callOperator('quantized::conv2d_prepack', [weight, null, [1, huge], [0, 0], [1, 1], 1]) as Value
    const calls: readonly (readonly [operator: string, args: Value[]])[] = [
      ['aten::conv2d', [image, filter, null, pair]],
      ['aten::conv2d', [image, filter, null, [1, huge], [0, huge]]],
      ['aten::conv2d', [image, filter, null, [1, 1], [0, 0], pair]],
      ['aten::conv2d.padding', [image, filter, null, pair, 'valid']],
      ['aten::conv_transpose2d.input', [image, filter, null, [1, 1], [0, huge / 2], [0, 0], 1, [1, huge]]],
      ['aten::max_pool2d', [image, [2, 2], pair]],
      ['aten::avg_pool2d', [image, [2, huge], pair, [0, huge / 2]]],
      ['quantized::conv2d.new', [bytes, packed, 1, 0]],
      ['aten::max_pool2d', [bytes, [2, 2], pair]],
    ]
    for (const [operator, args] of calls) {
      t.throws(() => callOperator(operator, args), { name: 'PtliteError', code: 'INVALID_ARGUMENT' }, `${operator}, ${huge}`)
    }
  }
  t.end()
})
