import t from 'tap'
import { callOperator, int, Tensor, tensor } from '../../src/index.js'

/** Operators on quantized tensors, with values from PyTorch 1.13. */

const SCALE = 0.5
const ZERO = 10

function quint8(data: number[], shape = [data.length], scale = SCALE, zeroPoint = ZERO): Tensor {
  return Tensor.fromStorage(Uint8Array.from(data), { dtype: 'quint8', shape, quant: { scale, zeroPoint } })
}

function call(name: string, ...args: unknown[]): Tensor {
  return callOperator(name, args as never[]) as Tensor
}

function numbers(value: Tensor): number[] {
  return Array.from(value.data() as ArrayLike<number | bigint>, Number)
}

t.test('operators without a quantized kernel refuse quantized tensors', async (t) => {
  const x = quint8([1, 2, 3])
  for (const name of ['aten::neg', 'aten::zero_', 'aten::nonzero', 'aten::median']) {
    t.throws(() => callOperator(name, [x]), { code: 'MISSING_OPERATOR', message: new RegExp(`${name}.*QuantizedCPU`) }, name)
  }
})

t.test('order and selection go by the integers', async (t) => {
  const x = quint8([7, 200, 0, 31])
  const [sorted, positions] = callOperator('aten::sort', [x, int(0), true]) as unknown as [Tensor, Tensor]
  t.same(numbers(sorted), [200, 31, 7, 0])
  t.same(numbers(positions), [1, 3, 0, 2])
  t.same(sorted.quant, { scale: SCALE, zeroPoint: ZERO })
  t.same(numbers(call('aten::max', x)), [200])
  t.same(numbers(call('aten::index_select', x, int(0), tensor(BigInt64Array.from([2n, 1n])))), [0, 200])
})

t.test('other names of quantized operators take quantized tensors, too', async (t) => {
  const x = quint8([7, 200, 0, 31], [2, 2])
  const y = quint8([8, 20, 0, 30], [2, 2])
  for (const [name, other] of [
    ['not_equal', 'ne'],
    ['less', 'lt'],
    ['less_equal', 'le'],
    ['greater', 'gt'],
    ['greater_equal', 'ge'],
  ] as const) {
    t.same(numbers(call(`aten::${name}.Tensor`, x, y)), numbers(call(`aten::${other}.Tensor`, x, y)), name)
    t.same(numbers(call(`aten::${name}.Scalar`, x, 2)), numbers(call(`aten::${other}.Scalar`, x, 2)), name)
  }
  t.same(numbers(call('aten::clip', x, -3, 20)), numbers(call('aten::clamp', x, -3, 20)))
  t.same(numbers(call('aten::special_expit', x)), numbers(call('aten::sigmoid', x)))
  t.same(numbers(call('aten::msort', x)), [0, 31, 7, 200])
  const rows = call('aten::embedding', x, tensor(BigInt64Array.from([1n, 0n, 1n])))
  t.same(numbers(rows), [0, 31, 7, 200, 0, 31])
  t.same(rows.quant, { scale: SCALE, zeroPoint: ZERO })
})

t.test('padding', async (t) => {
  const x = quint8([1, 2, 3], [1, 3])
  t.same(
    numbers(call('aten::pad', x, [1, 2], 'constant', 3)),
    [16, 1, 2, 3, 16, 16],
    'the value in units of the scale, from the zero point',
  )
  t.same(numbers(call('aten::pad', x, [1, 0], 'constant', null)), [ZERO, 1, 2, 3])
  t.same(numbers(call('aten::pad', x, [2, 1], 'reflect', null)), [3, 2, 1, 2, 3, 2])
  t.throws(() => call('aten::pad', x, [1, 1], 'replicate', null), { code: 'INVALID_ARGUMENT' })
})

t.test('copies and fills', async (t) => {
  const x = quint8([0, 0])
  call('aten::copy_', x, tensor([1.25, -100]))
  t.same(numbers(x), [12, 0], 'half to even, saturated')
  call('aten::fill_.Scalar', x, 3)
  t.same(numbers(x), [16, 16])
  call('aten::masked_fill_.Scalar', x, tensor(Uint8Array.from([1, 0]), [2], 'bool'), -1)
  t.same(numbers(x), [8, 16])
  call('aten::copy_', x, quint8([1, 2], [2], 2, 0))
  t.same(numbers(x), [1, 2])
  t.same(x.quant, { scale: 2, zeroPoint: 0 }, 'parameters come along')
  t.throws(() => callOperator('aten::copy_', [tensor([1, 2]), x]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::copy_', [x, tensor(Int32Array.from([1, 2]), [2], 'int32')]), { code: 'INVALID_DTYPE' })
})

t.test('pooling', async (t) => {
  const x = quint8([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1, 3, 3])
  t.same(numbers(call('aten::max_pool2d', x, [2, 2], [1, 1])), [5, 6, 8, 9])
  t.same(numbers(call('aten::avg_pool2d', x, [2, 2], [1, 1])), [3, 4, 6, 7])
  t.same(numbers(call('aten::adaptive_avg_pool2d', x, [1, 1])), [5])
  // the padding stands for zero, which is the integer 10
  t.same(numbers(call('aten::avg_pool2d', x, [3, 3], [3, 3], [1, 1])), [7])
})

t.test('one channel of a tensor quantized per channel is quantized per tensor', async (t) => {
  const quant = { axis: 0, scales: [0.5, 0.25], zeroPoints: [0, 3] }
  const x = Tensor.fromStorage(Int8Array.from([1, 2, 3, 4]), { dtype: 'qint8', shape: [2, 2], quant })
  const row = call('aten::select.int', x, int(0), int(1))
  t.same(row.quant, { scale: 0.25, zeroPoint: 3 })
  t.same(numbers(row), [3, 4])
})

t.test('rows of embedding tables', async (t) => {
  const weight = tensor([0, 1, 2, 3, 4, 4, 4, 4], [2, 4])
  for (const kind of ['byte', '4bit', '2bit']) {
    const rows = call(`quantized::embedding_bag_${kind}_prepack`, weight)
    t.same(
      numbers(call(`quantized::embedding_bag_${kind}_unpack`, rows)).map((x) => Math.round(x * 100) / 100),
      [0, 1, 2, 3, 4, 4, 4, 4],
    )
    const bags = [rows, tensor(Int32Array.from([0, 1, 0]), [3], 'int32'), tensor(Int32Array.from([0, 2]), [2], 'int32')]
    const sums = numbers(call(`quantized::embedding_bag_${kind}_rowwise_offsets`, ...bags))
    t.same(
      sums.map((x) => Math.round(x * 100) / 100),
      [4, 5, 6, 7, 0, 1, 2, 3],
    )
    const outside = [rows, tensor(Int32Array.from([2]), [1], 'int32'), tensor(Int32Array.from([0]), [1], 'int32')]
    t.throws(() => call(`quantized::embedding_bag_${kind}_rowwise_offsets`, ...outside), { code: 'INVALID_ARGUMENT' })
  }
})

t.test('variants and compositions refuse what their operator refuses', async (t) => {
  const x = quint8([1, 2, 3, 4], [2, 2])
  const indices = tensor(new BigInt64Array(2), [2], 'int64')
  const refused = { code: 'MISSING_OPERATOR' }
  t.throws(() => callOperator('aten::median.out', [x, quint8([0])]), refused)
  t.throws(() => callOperator('aten::median.dim_values', [x, int(0), false, quint8([0, 0]), indices]), refused)
  t.throws(() => callOperator('aten::_foreach_neg', [[x]]), refused)
  t.throws(() => callOperator('aten::diff', [x]), refused)
})

t.test('factories write no raw integers into quantized tensors', async (t) => {
  const out = quint8([0, 0])
  t.same(numbers(call('aten::full.out', [int(2)], 3, out)), [16, 16])
  t.same(numbers(call('aten::zeros.out', [int(2)], out)), [10, 10])
  for (const name of ['aten::arange.out', 'aten::eye.out']) t.throws(() => call(name, int(2), out), { code: 'MISSING_OPERATOR' }, name)
  t.throws(() => call('aten::tril', quint8([1, 2, 3, 4], [2, 2])), { code: 'MISSING_OPERATOR' })
  t.throws(() => callOperator('aten::linspace', [0, 1, int(2), 'quint8']), { code: 'INVALID_DTYPE' })
  t.throws(() => callOperator('aten::to.dtype', [tensor([1, 2]), 'quint8']), { code: 'INVALID_DTYPE' })
})

t.test('qint32 and missing bounds in scalar arithmetic', async (t) => {
  const x = (data: number[], zeroPoint: number) =>
    Tensor.fromStorage(Int32Array.from(data), { dtype: 'qint32', shape: [data.length], quant: { scale: 0.5, zeroPoint } })
  const sum = call('quantized::add_scalar', x([-5, 0, 70000], 3), 2.25)
  t.same([numbers(sum), sum.quant], [[-5, 0, 70000], { scale: 0.5, zeroPoint: -1 }])
  t.same(numbers(call('quantized::add_scalar_relu', x([-5, 0, 70000], 3), 2.25)), [-1, 0, 70000])
  const product = call('quantized::mul_scalar', x([-5, 0, 70000], 3), -2)
  t.same([numbers(product), product.quant], [[4, -1, -70001], { scale: 1, zeroPoint: -4 }])
  const far = call('quantized::add_scalar', x([100, -7], -(2 ** 31)), 8)
  t.same(numbers(far), [-(2 ** 31), -(2 ** 31)])
  t.equal(far.quant !== null && 'zeroPoint' in far.quant && far.quant.zeroPoint, -(2 ** 31))
  t.same(numbers(call('aten::clamp', quint8([0, 12, 20]), null, 2)), [0, 12, 14])
  t.same(numbers(call('quantized::clamp', quint8([0, 12, 20]), 0, null)), [10, 12, 20])
  t.throws(() => call('aten::clamp', quint8([1]), null, null), { code: 'INVALID_ARGUMENT' })
})

t.test('images with channels innermost stay so', async (t) => {
  const strides = [24, 1, 6, 2]
  const elements = Array.from({ length: 24 }, (_, i) => 5 * i)
  for (const [dtype, data] of [
    ['quint8', Uint8Array.from(elements)],
    ['qint8', Int8Array.from(elements)],
    ['qint32', Int32Array.from(elements)],
  ] as const) {
    const x = () => Tensor.fromStorage(data, { dtype, shape: [1, 2, 4, 3], strides, quant: { scale: 0.1, zeroPoint: 7 } })
    const calls: [string, ...unknown[]][] = [
      ['relu'],
      ['relu_'],
      ['relu6'],
      ['relu6_'],
      ['clamp', -1, 3],
      ['clamp_', -1, 3],
      ['hardtanh', -1, 3],
      ['hardtanh_', -1, 3],
    ]
    for (const [name, ...bounds] of calls) t.same(call(`aten::${name}`, x(), ...bounds).strides, strides, `${dtype} ${name}`)
    t.same(call('aten::dequantize.self', x()).strides, strides)
    t.same(call('aten::int_repr', x()).strides, strides)
  }
  const image = Tensor.fromStorage(new Float32Array(24), { dtype: 'float32', shape: [1, 2, 4, 3], strides })
  t.same(call('aten::quantize_per_tensor', image, 0.1, int(7), 'quint8').strides, strides)
})

t.test('views leave tensors quantized per channel the parameters of their channels', async (t) => {
  const weight = (axis: number) =>
    Tensor.fromStorage(Int8Array.from([1, 2, 3, 4, 5, 6]), {
      dtype: 'qint8',
      shape: [3, 2],
      quant: { axis, scales: axis === 0 ? [1, 2, 4] : [1, 3], zeroPoints: axis === 0 ? [0, 1, 2] : [0, 1] },
    })
  const part = call('aten::slice.Tensor', weight(0), int(0), int(1), int(3), int(1))
  t.same(part.quant, { axis: 0, scales: [2, 4], zeroPoints: [1, 2] })
  t.same(numbers(call('aten::dequantize.self', part)), [4, 6, 12, 16])
  t.same(call('aten::narrow', weight(1), int(0), int(1), int(2)).quant, { axis: 1, scales: [1, 3], zeroPoints: [0, 1] })
  t.same(call('aten::unsqueeze_', weight(0), int(0)).quant, { axis: 1, scales: [1, 2, 4], zeroPoints: [0, 1, 2] })
  t.same(call('aten::view', weight(0), [int(3), int(1), int(2)]).shape, [3, 1, 2])
  const broken = { code: 'INVALID_ARGUMENT' }
  t.throws(() => call('aten::view', weight(0), [int(6)]), broken)
  t.throws(() => call('aten::reshape', weight(1), [int(2), int(3)]), broken)
  t.throws(() => call('aten::repeat', weight(0), [int(2), int(1)]), broken)
  t.throws(() => call('aten::set_', weight(0)), broken)
  t.throws(() => call('aten::copy_', weight(1), call('aten::select.int', weight(1), int(0), int(0))), broken)
})

t.test('comparisons of quantized tensors give bool tensors', async (t) => {
  const x = quint8([1, 2])
  for (const name of ['aten::eq_.Scalar', 'aten::lt_.Scalar']) t.throws(() => call(name, x, 1), { code: 'INVALID_DTYPE' }, name)
  t.throws(() => call('aten::ge.Tensor_out', x, x, tensor([0, 0])), { code: 'INVALID_DTYPE' })
})

t.test('largest integers of boxes', async (t) => {
  const x = quint8([1, 9, 3, 4, 5, 6, 7, 2, 8, 0, 11, 12], [1, 1, 2, 2, 3])
  const pooled = call('aten::quantized_max_pool3d', x, [2, 1, 2].map(int), [1, 1, 1].map(int))
  t.same([numbers(pooled), pooled.shape, pooled.quant], [[9, 9, 11, 12], [1, 1, 1, 2, 2], x.quant])
  const padded = call('aten::quantized_max_pool3d', x, [2, 2, 2].map(int), [2, 2, 2].map(int), [1, 1, 1].map(int), [1, 1, 1].map(int), true)
  t.same(padded.shape, [1, 1, 2, 2, 2])
  t.same(numbers(padded), [1, 9, 4, 6, 7, 8, 0, 12])
  t.throws(() => call('aten::quantized_max_pool3d', quint8([1, 2, 3, 4], [1, 1, 2, 2]), [1, 1, 1].map(int)), { code: 'INVALID_ARGUMENT' })
})

t.test('linear layers with float32 results take the parameters of their input as given', async (t) => {
  const weight = call('aten::quantize_per_tensor', tensor(Float32Array.from([1, -0.5, 0.25, 2]), [2, 2]), 0.25, int(0), 'qint8')
  const packed = callOperator('quantized::linear_prepack', [weight, tensor(Float32Array.from([0.5, -8]))])
  const x = tensor(Float32Array.from([0.6, 1.1]), [1, 2])
  // the input is quantized to 0.5 and 1
  const name = 'quantized::linear_with_input_q_dq_qweight_dq'
  t.same(Array.from(call(`${name}_output_fp32`, x, 0.5, int(10), packed).data() as Float32Array), [0.5, -5.875])
  t.same(Array.from(call(`${name}_relu_output_fp32`, x, 0.5, int(10), packed).data() as Float32Array), [0.5, 0])
})
