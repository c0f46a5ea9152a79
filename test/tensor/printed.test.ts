import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import t from 'tap'
import { callOperator, loadModule, Tensor, tensor, type TensorJSON } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'
import { general, fixed, scientific } from '../../runtime/tensor/number-text.js'

const cases = JSON.parse(readFileSync(fixturePath('printed.json'), 'utf8')) as Record<string, TensorJSON & { text: string }>

t.test('tensors are printed as PyTorch prints them', async (t) => {
  for (const [name, { text, ...json }] of Object.entries(cases)) {
    const x = Tensor.fromJSON(json)
    // here the dtype is always there, and the shape where the middle is left out
    const found = String(x).replace(/,\s+(size=\[[^\]]*\], )?dtype=\w+\)$/, ')')
    t.equal(found, text.replace(/, size=\(.*\)\)$/, ')'), name)
    t.equal(inspect(x), String(x))
  }
})

t.test('dtype, and what PyTorch writes otherwise', async (t) => {
  t.equal(String(tensor([[1, 2, 3]])), 'tensor([[1., 2., 3.]], dtype=float32)')
  t.equal(inspect({ x: tensor([[1n, -2n]]) }), '{ x: tensor([[ 1, -2]], dtype=int64) }')
  t.equal(String(tensor([true, false])), 'tensor([ true, false], dtype=bool)')
  t.equal(String(tensor([], [2, 0])), 'tensor([], size=[2, 0], dtype=float32)')
  t.equal(String(tensor(new Uint16Array([15360]), [1], 'float16')), 'tensor([1.], dtype=float16)')
  t.equal(String(callOperator('aten::t', [tensor([[1, 2], [3, 4]])])), 'tensor([[1., 3.],\n        [2., 4.]], dtype=float32)') // prettier-ignore
  const quantized = callOperator<Tensor>('aten::quantize_per_tensor', [tensor([1, 2]), 0.5, 3, 'quint8'])
  t.equal(String(quantized), 'tensor([1., 2.], dtype=quint8, scale=0.5, zeroPoint=3)')
  const parts = [tensor([1, 2.5]), tensor([-1, 0])]
  t.equal(String(callOperator('aten::complex', parts)), 'tensor([1.0000-1.j, 2.5000+0.j], dtype=complex64)')
  const sparse = callOperator<Tensor>('aten::to_sparse', [tensor([[0, 1]])])
  t.equal(String(sparse), 'Tensor float32[1, 2] (sparse)')
  const x = tensor([1])
  x.dispose()
  t.equal(inspect(x), 'Tensor float32[1] (disposed)')
})

t.test('of a large tensor little is read', async (t) => {
  const row = callOperator<Tensor>('aten::expand', [tensor([1]), [2 ** 20, 2 ** 20]])
  t.match(String(row), /^tensor\(\[\[1\., 1\., 1\., {2}\.\.\., 1\., 1\., 1\.\],\n[^]*size=\[1048576, 1048576\], dtype=float32\)$/)
  const deep = callOperator<Tensor>('aten::expand', [tensor([1]), Array<number>(40).fill(2)])
  t.match(String(deep), /^Tensor float32\[2, 2, /)
})

t.test('half-way numbers go to the even digit', async (t) => {
  t.strictSame([0.5, 1.5, 2.5, -0.5].map((x) => fixed(x, 0)), ['0', '2', '2', '-0']) // prettier-ignore
  t.strictSame([0.03125, 0.09375, 0.125].map((x) => fixed(x, 4)), ['0.0312', '0.0938', '0.1250']) // prettier-ignore
  t.equal(fixed(1.005, 2), '1.00', 'which is a little less')
  t.strictSame([2.5, 3.5, 9.5].map((x) => scientific(x, 0)), ['2e+00', '4e+00', '1e+01']) // prettier-ignore
  t.equal(general(100000.5, 6), '100000')
  t.equal(general(100001.5, 6), '100002')
})

t.test('modules say what they are', async (t) => {
  const module = await loadModule(fixturePath('linear.ptl'))
  t.match(inspect(module), /^Module \{\n {2}methods: forward[^]* {2}weights: 2 tensors, [^]*\}$/)
  module.dispose()
  t.equal(String(module), 'Module (disposed)')
})
