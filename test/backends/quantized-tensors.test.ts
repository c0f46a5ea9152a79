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
