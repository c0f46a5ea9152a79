import t from 'tap'
import { callOperator, complex, Tensor, tensor } from '../../src/index.js'

const quantized = callOperator<Tensor>('aten::quantize_per_channel', [
  ...[tensor([[1, 2], [3, 4]]), tensor([0.5, 0.25]), tensor([3n, 4n]), 0, 'qint8'], // prettier-ignore
])
const tensors: Record<string, [tensor: Tensor, data: unknown]> = {
  float32: [tensor([[1, 2.5], [-3, 1e-3]]), [1, 2.5, -3, Math.fround(1e-3)]], // prettier-ignore
  'what JSON has no number for': [tensor([NaN, Infinity, -Infinity, -0]), ['NaN', 'Infinity', '-Infinity', '-0']],
  'no elements': [tensor([], [0, 3]), []],
  'no dimensions': [tensor(5), [5]],
  int64: [tensor([1n, -(2n ** 53n), 2n ** 62n]), [1, '-9007199254740992', '4611686018427387904']],
  uint64: [tensor([2n ** 64n - 1n, 0n], [2], 'uint64'), ['18446744073709551615', 0]],
  uint8: [tensor([0, 255], [2], 'uint8'), [0, 255]],
  bool: [tensor([true, false]), [true, false]],
  float16: [tensor(new Uint16Array([0x3c00, 0x7c00, 0x0001]), [3], 'float16'), [1, 'Infinity', 2 ** -24]],
  bfloat16: [tensor(new Uint16Array([0x3f80, 0xc000]), [2], 'bfloat16'), [1, -2]],
  float8: [tensor(new Uint8Array([0x38, 0x01]), [2], 'float8_e4m3fn'), [1, 2 ** -9]],
  complex64: [
    callOperator<Tensor>('aten::complex', [tensor([1, 2.5]), tensor([-1, NaN])]),
    [[1, -1], [2.5, 'NaN']], // prettier-ignore
  ],
  quantized: [quantized, [5, 7, 16, 20]],
  'other strides': [callOperator<Tensor>('aten::t', [tensor([[1, 2, 3], [4, 5, 6]])]), [1, 4, 2, 5, 3, 6]], // prettier-ignore
}

t.test('tensors are whole in JSON, and come back', async (t) => {
  for (const [name, [x, data]] of Object.entries(tensors)) {
    const text = JSON.stringify({ x })
    const json = (JSON.parse(text) as { x: Record<string, unknown> }).x
    t.strictSame([json.dtype, json.shape, json.data], [x.dtype, x.shape, data], name)
    for (const given of [json, JSON.stringify(x), JSON.stringify(x.toJSON({ base64: true }))]) {
      const back = Tensor.fromJSON(given)
      t.strictSame([back.dtype, back.shape, back.quant, back.data()], [x.dtype, x.shape, x.quant, x.data()], `${name}, back`)
    }
  }
})

t.test('what is no tensor is refused', async (t) => {
  const refused = (json: unknown, message: RegExp): void => {
    t.throws(() => Tensor.fromJSON(json), { name: 'PtliteError', code: 'INVALID_ARGUMENT', message }, JSON.stringify(json))
  }
  for (const json of [undefined, null, 5, '{', '5', {}, { dtype: 'float32', shape: [1] }]) refused(json, /dtype, shape and data/)
  const good = { dtype: 'float32', shape: [2], data: [1, 2] }
  refused({ ...good, shape: [3] }, /data has 2 elements, the shape needs 3/)
  refused({ ...good, shape: [2 ** 40, 2 ** 40] }, /data has 2 elements/)
  refused({ ...good, shape: [-2] }, /shape/)
  refused({ ...good, dtype: 'float31' }, /float31/)
  refused({ ...good, data: [1, '2'] }, /data\[1\]: expected a number, found "2"/)
  refused({ ...good, data: [1, null] }, /data\[1\]: expected a number/)
  refused({ ...good, data: 'AAAA' }, /data has 3 bytes, the shape needs 8/)
  refused({ ...good, data: '(' }, /not base64/)
  refused({ ...good, data: { length: 2 } }, /an array or base64/)
  refused({ ...good, dtype: 'bool', data: [0, 1] }, /true or false/)
  refused({ ...good, dtype: 'int8', data: [1, 128] }, /an integer that the dtype holds/)
  refused({ ...good, dtype: 'int64', data: [1, '9223372036854775808'] }, /an integer that the dtype holds/)
  refused({ ...good, dtype: 'int32', data: [1, 1.5] }, /an integer/)
  refused({ ...good, dtype: 'complex64', data: [1, 2] }, /a pair/)
  refused({ ...good, dtype: 'quint8' }, /quantization parameters/)
  refused({ ...good, dtype: 'quint8', quant: { scale: 'x' } }, /scale/)
})

t.test('tensors that cannot be JSON', async (t) => {
  const x = tensor([1])
  x.dispose()
  t.throws(() => JSON.stringify(x), { name: 'PtliteError', code: 'DISPOSED' })
  const large = callOperator<Tensor>('aten::expand', [tensor([1]), [2 ** 13, 2 ** 12]])
  t.throws(() => JSON.stringify(large), { code: 'OUT_OF_MEMORY', message: /base64: true/ })
  t.throws(() => tensor([1]).toJSON({ base64: 1 } as never), { code: 'INVALID_ARGUMENT' })
})

t.test('numbers without bigints', async (t) => {
  t.strictSame(tensor([[1n, 2n], [-3n, 4n]]).numbers(), [1, 2, -3, 4]) // prettier-ignore
  t.strictSame(tensor([true, false]).numbers(), [1, 0])
  t.strictSame(tensor(new Uint16Array([0x3c00]), [1], 'float16').numbers(), [1])
  t.strictSame(quantized.numbers(), [5, 7, 16, 20])
  t.throws(() => tensor([2n ** 60n]).numbers(), { code: 'INVALID_ARGUMENT', message: /2\^53|beyond/ })
  t.throws(() => callOperator<Tensor>('aten::complex', [tensor([1]), tensor([1])]).numbers(), { code: 'INVALID_DTYPE' })
  t.strictSame(tensor([[1n, 2n ** 60n]]).toArray(), [[1, 2n ** 60n]])
  t.strictSame(callOperator<Tensor>('aten::complex', [tensor([1]), tensor([2])]).toArray(), [complex(1, 2)])
})
