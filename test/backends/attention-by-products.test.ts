import t from 'tap'
import { callOperator, type Input, type Tensor, tensor } from '../../src/index.js'

const x = tensor([1, 2, 3, 4, 5, 6], [2, 3], 'float32')
const attention = (...rest: Input[]): unknown => callOperator('aten::_scaled_dot_product_attention_math', [x, x, x, ...rest])

t.test('_scaled_dot_product_attention_math: dropout without a mask draws one, and the weights show it', (t) => {
  callOperator('aten::manual_seed', [1])
  const [out, weights] = attention(null, 0.5) as [Tensor, Tensor]
  t.same(weights.shape, [2, 2])
  const product = callOperator('aten::mm', [weights, x]) as Tensor
  t.strictSame(out.toArray(), product.toArray())
  t.end()
})

t.test('what it refuses', (t) => {
  const refused = (...rest: Input[]): void => void t.throws(() => attention(...rest), { name: 'PtliteError' })
  refused(tensor([0, 0, 0, 0], [2, 2], 'float32'), 0, true)
  refused(tensor([0, 0, 0], [3], 'float32'))
  refused(null, 0.5, false, tensor([1, 1, 1], [3], 'bool'))
  // as PyTorch 1.13 had it: need_attn_weights, is_causal
  refused(null, 0, false, true)
  t.end()
})
