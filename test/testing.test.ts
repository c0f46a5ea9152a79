import t from 'tap'
import { complex, Tensor, tensor, zeros } from '../src/index.js'
import { toBeCloseToTensor, type Tolerance } from '../src/testing.js'

const close = (a: unknown, b: unknown, tolerance?: Tolerance): boolean => toBeCloseToTensor(a, b, tolerance).pass
const why = (a: unknown, b: unknown, tolerance?: Tolerance): string => toBeCloseToTensor(a, b, tolerance).message()

t.test('elements within the tolerance of the dtype', async (t) => {
  t.ok(close(tensor([1, 2]), tensor([1 + 1e-6, 2])))
  t.notOk(close(tensor([1, 2]), tensor([1.001, 2])))
  t.ok(close(tensor([1, 2]), tensor([1.001, 2]), { rtol: 1e-2 }))
  t.ok(close(tensor([0, 2]), tensor([0.005, 2]), { atol: 1e-2 }))
  t.notOk(close(tensor([1], [1], 'float64'), tensor([1 + 1e-6], [1], 'float64')))
  t.ok(close(tensor([1]).to('bfloat16'), tensor([1.008]).to('bfloat16')))
  t.ok(close(tensor([NaN, Infinity]), tensor([NaN, Infinity])))
  t.notOk(close(tensor([Infinity]), tensor([-Infinity])))
  t.notOk(close(tensor([NaN]), tensor([1])))
  t.notOk(close(tensor([2n ** 60n]), tensor([2n ** 60n + 1n])))
  t.ok(close(tensor([[1, 2]]), [[1, 2]]))
  t.ok(close(tensor(3), 3))
  t.ok(close(tensor([true, false]), [true, false]))
  t.ok(close(zeros([0, 2]), zeros([0, 2])))
})

t.test('what differs is said', async (t) => {
  const x = tensor([[1, 2], [3, 4]]) // prettier-ignore
  t.match(why(x, tensor([[1, 2.5], [3, 6]])), '2 of 4 elements are not close (rtol 0.0000013, atol 0.00001), most of all [1, 1]: received 4, expected 6') // prettier-ignore
  t.match(why(x, tensor([1, 2])), 'expected shape [2], received [2, 2]')
  t.match(why(x, x.to('float64')), 'expected dtype float64, received float32')
  t.match(why(x, x), 'expected tensors that are not close')
  t.match(why([1], x), 'expected a tensor, received object')
  t.match(why(x, [[1, 2], [3]]), 'numbers in nested arrays of one shape')
  t.match(why(x, 'x'), 'numbers in nested arrays of one shape')
  const quantized = (scale: number): Tensor =>
    Tensor.fromStorage(new Uint8Array([1]), { dtype: 'quint8', shape: [1], quant: { scale, zeroPoint: 0 } })
  t.ok(close(quantized(1), quantized(1)))
  t.match(why(quantized(1), quantized(2)), 'expected quantization {"scale":2,"zeroPoint":0}')
  const pair = (im: number): Tensor => Tensor.fromStorage(new Float32Array([1, 0, 2, im]), { dtype: 'complex64', shape: [2] })
  t.equal(String(pair(1).at(1).item()), String(complex(2, 1)))
  t.match(why(pair(1), pair(2)), 'most of all [1]: received 1, expected 2')
})
