import t from 'tap'
import { callOperator, float, type Input, int, type Output, type Tensor, tensor } from '../../src/index.js'

/* Arguments that operators gained between PyTorch 1.13 and 2.13; expected values are those of 2.13. */

const call = (op: string, ...args: Input[]): Output => callOperator(`aten::${op}`, args)
const numbers = (output: Output): number[] => Array.from((output as Tensor).data() as Float32Array, (x) => Number(x.toFixed(6)))
const v = tensor([
  [1, 2, 4, 8],
  [16, -3, 0.5, 7],
])

t.test('corrections of variances are fractions too, and have defaults', (t) => {
  t.same(numbers(call('var.correction', v, [1], float(1.5))), [11.5, 83.675003])
  t.same(numbers(call('var.correction', v)), [34.53125])
  t.same(numbers(call('std.correction', v, [0], float(0.25), true)), [8.017838, 2.672612, 1.870829, 0.534522])
  t.same((call('std_mean.correction', v, null, float(2.5)) as Output[]).map(numbers), [[6.629394], [4.4375]])
  t.same((call('var_mean.correction', v, [1], int(0)) as Output[]).map(numbers), [
    [7.1875, 52.296875],
    [3.75, 5.125],
  ])
  t.same(numbers(call('var.correction', v, [1], float(4.5))), [Infinity, Infinity])
  const out = tensor([0, 0])
  call('var.correction_out', v, [1], float(1.5), false, out)
  t.same(numbers(out), [11.5, 83.675003])
  const q = call('quantize_per_tensor', v, float(0.25), int(20), 'quint8')
  t.same([...((call('std.correction', q, [1], float(0.5)) as Tensor).data() as Uint8Array)], [31, 51])
  t.end()
})

t.test('norms of lists in another dtype', (t) => {
  const [a, b] = call('_foreach_norm.Scalar', [call('to.dtype', v, 'float16') as Tensor, v], int(1), 'float64') as [Tensor, Tensor]
  t.same([a.dtype, a.item(), b.dtype, b.item()], ['float64', 41.5, 'float64', 41.5])
  const out = [tensor(0, [], 'float64')]
  call('_foreach_norm.Scalar_out', [v], int(2), 'float64', out)
  t.ok(Math.abs((out[0]!.item() as number) - 19.981241) < 1e-5)
  t.end()
})

t.test('sequences that are padded on the left', (t) => {
  const sequences = [tensor([1, 2]), tensor([3, 4, 5])]
  t.same(numbers(call('pad_sequence', sequences, true, float(0.5), 'left')), [0.5, 1, 2, 3, 4, 5])
  t.same(numbers(call('pad_sequence', sequences, false, float(0.5), 'left')), [0.5, 3, 1, 4, 2, 5])
  t.same(numbers(call('pad_sequence', sequences, true, float(0.5), 'right')), [1, 2, 0.5, 3, 4, 5])
  t.throws(() => call('pad_sequence', sequences, true, float(0), 'up'), { message: /expected padding_side left or right, found 'up'/ })
  t.end()
})

t.test('frames that are aligned to the window', (t) => {
  const x = tensor([1, -2, 3, 0.5, 4, -1, 2, 1.5])
  const window = tensor([0.5, 1])
  const plain = call('stft', x, int(4), int(3), int(2), window, false, null, false, true) as Tensor
  t.same([...plain.shape], [3, 3, 2])
  const expected = [-1.5, 0, 4.25, 0, 2.5, 0, 2, -0.5, -4, -0.25, -1.5, -1, -2.5, 0, 3.75, 0, 0.5, 0]
  t.same(numbers(plain), expected)
  t.same(numbers(call('stft.center', x, int(4), int(3), int(2), window, false, 'reflect', false, null, false, true)), expected)
  const usual = [...(call('stft', x, int(4), int(3), int(2), window, false, null, false, false) as Tensor).shape]
  t.same(usual, [3, 2, 2])
  t.throws(() => call('stft.center', x, int(4), int(3), int(2), window, true, 'reflect', false, null, false, false), {
    message: /align_to_window can only be given where center is False/,
  })
  // PyTorch refuses what does not divide into equal margins where the last frame needs all of them
  t.throws(() => call('stft', x, int(5), int(3), int(2), window, false, null, false, true), { message: /ends outside of the signal of 8/ })
  t.end()
})

t.test('sparse tensors: order, dense dimensions and gradients', (t) => {
  const indices = tensor([0, 1, 1, 2, 0, 2], [2, 3], 'int64')
  const values = tensor([3, 4, 5])
  const options = [null, null, null, null] as const
  for (const [given, coalesced] of [
    [null, false],
    [false, false],
    [true, true],
  ] as const) {
    t.equal(call('is_coalesced', call('sparse_coo_tensor.indices', indices, values, ...options, given) as Tensor), coalesced)
    t.equal(call('is_coalesced', call('sparse_coo_tensor.indices_size', indices, values, [2, 3], ...options, given) as Tensor), coalesced)
    t.equal(call('is_coalesced', call('_sparse_coo_tensor_unsafe', indices, values, [2, 3], ...options, given) as Tensor), coalesced)
  }
  const dense = tensor([0, 1, 0, 2, 0, 0], [2, 3])
  const rows = call('to_sparse', dense, null, null, int(1)) as Tensor
  t.same([call('sparse_dim', rows), call('dense_dim', rows)], [1, 1])
  t.same(numbers(call('values', rows)), [0, 1, 0, 2, 0, 0])
  t.same(numbers(call('to_dense', rows, null, true)), [0, 1, 0, 2, 0, 0])
  t.equal((call('to_dense', dense, 'float64', false) as Tensor).dtype, 'float64')
  t.equal(call('sparse_dim', call('to_sparse', dense, 'sparse') as Tensor), 2)
  for (const [args, message] of [
    [[dense, 'strided'], /expected the layout sparse_coo, sparse_csr or sparse_csc, found number 0/],
    [[dense, null, [1, 1]], /blocks belong to other layouts/],
    [[dense, null, null, int(3)], /expected 0 to 2 dense dimensions, found 3/],
    [[dense, null, null, int(-1)], /expected 0 to 2 dense dimensions, found -1/],
    [[rows, null, null, int(0)], /a sparse tensor keeps its dense dimensions/],
  ] as const)
    t.throws(() => call('to_sparse', ...(args as unknown as Input[])), { code: 'INVALID_ARGUMENT', message })
  t.end()
})

t.test('random numbers', (t) => {
  const drawn = call('_no_grad_uniform_', tensor(new Float32Array(100)), float(2), float(3), null) as Tensor
  t.ok(numbers(drawn).every((x) => x >= 2 && x <= 3))
  t.equal((call('_no_grad_normal_', tensor([0, 0]), float(0), float(1), null) as Tensor).numel, 2)
  const out = tensor(new Float32Array(200))
  call('bernoulli.float_out', tensor(new Float32Array(200)), out)
  t.same([...new Set(numbers(out))].sort(), [0, 1])
  const x = tensor([-1, 2])
  const noise = tensor([0, 0])
  call('rrelu_with_noise', x, noise, float(0.1), float(0.2), true)
  t.ok(numbers(noise)[0]! >= 0.1 && numbers(noise)[1] === 1, 'the slopes are written')
  t.end()
})
