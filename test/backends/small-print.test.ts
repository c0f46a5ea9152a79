// What PyTorch 1.13 does where its documentation says nothing; expectations come from it.
import t from 'tap'
import { callOperator, complex, float, int, type Tensor, Tensor as T, tensor } from '../../src/index.js'

const f32 = (values: number[], shape = [values.length]): Tensor => tensor(Float32Array.from(values), shape)
const i64 = (values: number[]): Tensor => tensor(BigInt64Array.from(values, BigInt))
const call = (op: string, ...args: unknown[]): Tensor => callOperator(op, args as never[]) as Tensor
const values = (x: Tensor): number[] => Array.from(x.data() as Float32Array, Number)

t.test('masked_fill reads the first byte of masks that are not bool', (t) => {
  const x = f32([1, 2, 3])
  t.strictSame(values(call('aten::masked_fill.Scalar', x, tensor(Int32Array.of(0, 1, 0)), float(9))), [1, 9, 3])
  t.strictSame(values(call('aten::masked_fill.Scalar', x, tensor(BigInt64Array.of(1n, 256n, 0n)), float(9))), [9, 2, 3])
  t.strictSame(values(call('aten::masked_fill.Scalar', x, f32([1, 1, 0]), float(9))), [1, 2, 3])
  t.throws(() => call('aten::masked_fill.Scalar', x, tensor(Int32Array.of(0, 2, 0)), float(9)), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('a reduction that is none of the three leaves most losses unreduced', (t) => {
  const [a, b] = [f32([1, 2]), f32([3, 5])]
  t.strictSame(values(call('aten::l1_loss', a, b, int(3))), [2, 3])
  t.strictSame(values(call('aten::huber_loss', a, b, int(-1), float(1))), [1.5, 2.5])
  t.throws(() => call('aten::mse_loss', a, b, int(3)), { code: 'INVALID_ARGUMENT' })
  t.throws(() => call('aten::smooth_l1_loss', a, b, int(-1), float(1)), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('what no integer holds is quantized to the lowest value', (t) => {
  const x = f32([1e10, 1e20, Infinity, -Infinity, NaN, 0.3])
  t.strictSame(values(call('aten::quantize_per_tensor', x, float(0.1), int(100), 'quint8')), [255, 0, 0, 0, 0, 103])
  t.strictSame(values(call('aten::quantize_per_tensor', x, float(0.1), int(-100), 'qint8')), [127, -128, -128, -128, -128, -97])
  t.throws(() => call('aten::quantize_per_tensor_dynamic', f32([]), 'quint8', false), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('zero points per tensor are integers of their dtype', (t) => {
  const quantized = (zeroPoint: number): Tensor =>
    T.fromStorage(new Uint8Array(2), { dtype: 'quint8', shape: [2], quant: { scale: 0.1, zeroPoint } })
  t.equal(quantized(255).dtype, 'quint8')
  for (const zeroPoint of [-1, 256, 0.5, NaN]) t.throws(() => quantized(zeroPoint), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('complex elements are numbers where they are real', (t) => {
  const z = call('aten::complex', f32([1.5, 2, 0]), f32([0, 3, 0]))
  const at = (i: number): Tensor => call('aten::select.int', z, int(0), int(i))
  t.equal(callOperator('aten::Float.Tensor', [at(0)]), 1.5)
  t.equal(callOperator('aten::Int.Tensor', [at(0)]), 1)
  t.strictSame([0, 1, 2].map((i) => callOperator('aten::Bool.Tensor', [at(i)])), [true, true, false]) // prettier-ignore
  t.strictSame(callOperator('aten::item', [at(1)]), complex(2, 3))
  for (const op of ['Float.Tensor', 'Int.Tensor', 'FloatImplicit']) t.throws(() => callOperator(`aten::${op}`, [at(1)]), { code: 'INVALID_DTYPE' }) // prettier-ignore
  t.end()
})

t.test('embedding_bag records bags only where PyTorch does', (t) => {
  const weight = f32([1, 2, 3, 4, 5, 6], [3, 2])
  const bag = (mode: number, padding: number | null): number[][] =>
    (callOperator('aten::embedding_bag.padding_idx', [weight, i64([0, 2, 1]), i64([0, 2]), false, int(mode), false, null, false, padding]) as unknown as Tensor[]).map(values) // prettier-ignore
  t.strictSame(bag(0, null), [[6, 8, 3, 4], [], [0, 0], [0, 0]])
  t.strictSame(bag(0, 1), [
    [6, 8, 0, 0],
    [0, 0, 1],
    [0, 0],
    [0, 0],
  ])
  t.strictSame(bag(1, null), [
    [3, 4, 3, 4],
    [0, 0, 1],
    [2, 1],
    [2, 1],
  ])
  t.end()
})

t.test('fill_ and zero_ write expanded tensors', (t) => {
  const storage = tensor([1, 2, 3])
  const wide = callOperator('aten::expand', [storage, [2, 3]]) as Tensor
  callOperator('aten::fill_.Scalar', [wide, 4])
  t.same([...(storage.data() as Float32Array)], [4, 4, 4])
  t.throws(() => callOperator('aten::fill_.Tensor', [wide, tensor(5)]), { code: 'INVALID_ARGUMENT', message: /single memory location/ })
  callOperator('aten::zero_', [wide])
  t.same([...(storage.data() as Float32Array)], [0, 0, 0])
  t.throws(() => callOperator('aten::add_.Scalar', [wide, 1]), { name: 'PtliteError' })
  t.end()
})

t.test('baddbmm and addmv take the dtype of their matrices, addmm wants one dtype', (t) => {
  const self = f32([1.5])
  const matrix = tensor(BigInt64Array.from([2n, 2n, 2n, 2n]), [2, 2])
  const batch = tensor(BigInt64Array.from([2n, 2n, 2n, 2n]), [1, 2, 2])
  for (const found of [call('aten::baddbmm', self, batch, batch), call('aten::addmv', self, matrix, i64([2, 2]))]) {
    t.equal(found.dtype, 'int64')
    t.ok(values(found).every((x) => x === 9))
  }
  t.throws(() => call('aten::addmm', self, matrix, matrix), { code: 'INVALID_DTYPE' })
  t.throws(() => call('aten::baddbmm_', f32([1, 2, 3, 4], [1, 2, 2]), batch, batch), { code: 'INVALID_DTYPE' })
  t.end()
})

t.test('renorm leaves rows alone whose norm is not a number', (t) => {
  const rows = f32([3, 4, 0, NaN, 0, 0.5], [3, 2])
  const found = values(call('aten::renorm', rows, float(2), int(0), float(1)))
  t.ok(Math.abs(found[0]! - 0.6) < 1e-6 && Math.abs(found[1]! - 0.8) < 1e-6)
  t.strictSame(found.slice(2), [0, NaN, 0, 0.5])
  t.end()
})

t.test('sum_to_size sums as sum does: integers and bools to int64', (t) => {
  const x = tensor(Uint8Array.of(1, 0, 1, 1), [2, 2], 'bool')
  const found = call('aten::sum_to_size', x, [1, 2])
  t.equal(found.dtype, 'int64')
  t.strictSame(values(found), [2, 1])
  t.equal(call('aten::sum_to_size', x, [2, 2]).dtype, 'bool')
  t.throws(() => call('aten::trapezoid.dx', x, float(1)), { code: 'INVALID_DTYPE' })
  t.end()
})
