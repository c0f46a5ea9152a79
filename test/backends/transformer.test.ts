import t from 'tap'
import { callOperator, Tensor, tensor } from '../../src/index.js'

const range = (n: number, value: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => value(i))

const x = tensor(
  range(8, (i) => i / 8),
  [1, 2, 4],
)
const qkvWeight = tensor(
  range(48, (i) => ((i % 7) - 3) / 4),
  [12, 4],
)
const qkvBias = tensor(
  range(12, (i) => i / 12),
  [12],
)
const projWeight = tensor(
  range(16, (i) => ((i % 5) - 2) / 2),
  [4, 4],
)
const projWeightTransposed = tensor(
  range(16, (i) => ((((i % 4) * 4 + Math.floor(i / 4)) % 5) - 2) / 2),
  [4, 4],
)
const projBias = tensor([0.1, 0.2, 0.3, 0.4], [4])
const attention = [x, x, x, 4, 2, qkvWeight, qkvBias, projWeight, projBias]

/** Values of a tensor to six digits. */
function values(value: unknown): number[] {
  if (!(value instanceof Tensor)) throw new Error('expected a tensor')
  return Array.from(value.data() as Iterable<number | bigint>, (v) => Math.round(Number(v) * 1e5) / 1e5)
}

function five(list: readonly number[]): number[] {
  return list.map((v) => Math.round(v * 1e5) / 1e5)
}

t.test('multi-head attention', (t) => {
  const [output, weights] = callOperator('aten::_native_multi_head_attention', attention) as Tensor[]
  t.same(values(output), five([-0.414280444, 0.053765103, 0.197293758, -0.003329307, -0.404014736, 0.017760083, 0.20503056, 0.012144357]))
  t.same(weights!.shape, [1, 2, 2])
  t.same(values(weights), five([0.487252027, 0.512748003, 0.532601416, 0.467398524]))
  const [, none] = callOperator('aten::_native_multi_head_attention', [...attention, null, false]) as unknown[]
  t.equal(none, null, 'weights that nobody wants are None')
  t.end()
})

t.test('a mask leaves keys out', (t) => {
  const mask = tensor([0, 1], [1, 2], 'bool')
  const [output, weights] = callOperator('aten::_native_multi_head_attention', [...attention, mask, true, false, 1]) as Tensor[]
  const row = five([-0.358333379, -0.253124952, 0.294791698, 0.191666573])
  t.same(values(output), [...row, ...row])
  t.same(weights!.shape, [1, 2, 2, 2])
  t.same(values(weights), [1, 0, 1, 0, 1, 0, 1, 0])
  t.throws(() => callOperator('aten::_native_multi_head_attention', [...attention, mask]), { message: /expects a mask type/ })
  t.throws(() => callOperator('aten::_native_multi_head_attention', [...attention.with(4, 3)]), { message: /that 3 heads can share/ })
  t.end()
})

t.test('encoder layer', (t) => {
  const ones = tensor([1, 1, 1, 1], [4])
  const zeros = tensor([0, 0, 0, 0], [4])
  const layer = (gelu: boolean, normFirst: boolean): number[] =>
    values(
      callOperator('aten::_transformer_encoder_layer_fwd', [
        ...[x, 4, 2, qkvWeight, qkvBias, projWeight, projBias, gelu, normFirst, 1e-5],
        ...[ones, zeros, ones, zeros, projWeight, projBias, projWeightTransposed, projBias],
      ]),
    )
  t.same(
    layer(true, false),
    five([-1.580516219, -0.139173105, 0.904146552, 0.815542638, -1.55964005, -0.190372601, 0.875695586, 0.87431711]),
  )
  t.same(
    layer(false, true),
    five([1.738718987, -1.065819383, 4.437475681, -3.390168667, 2.238719225, -0.565819502, 4.937475681, -2.890168667]),
  )
  t.end()
})

t.test('add and relu', (t) => {
  const sum = (a: number[], b: unknown): number[] => values(callOperator('aten::_add_relu.Tensor', [tensor(a, [3]), b as Tensor]))
  t.same(sum([-1, 2, 3], tensor([0.5, -5, 1], [3])), [0, 0, 4])
  const self = tensor([-1, 2, 3], [3])
  callOperator('aten::_add_relu_.Tensor', [self, tensor([0.5, -5, 1], [3]), 2])
  t.same(values(self), [0, 0, 5])
  const out = tensor([0], [1])
  callOperator('aten::_add_relu.out', [tensor([-1, 2], [2]), tensor([3, 3], [2]), 1, out])
  t.same(values(out), [2, 5])
  t.same(values(callOperator('aten::_add_relu.Scalar', [tensor([-1, 2], [2], 'int64'), -1])), [0, 1])
  t.end()
})

t.test('an encoder layer takes sequences of different lengths as a nested tensor', (t) => {
  const lengths = [3, 1, 2]
  const padded = tensor(
    range(48, (i) => Math.sin(i)),
    [3, 4, 4],
  )
  const valid = tensor(
    lengths.flatMap((n) => range(4, (i) => (i < n ? 1 : 0))),
    [3, 4],
    'bool',
  )
  const ones = tensor([1, 1, 1, 1], [4])
  const layer = (src: unknown, normFirst: boolean): Tensor => {
    const norms = [ones, projBias, ones, projBias]
    const fed = [projWeight, projBias, projWeightTransposed, projBias]
    const args = [src as Tensor, 4, 2, qkvWeight, qkvBias, projWeight, projBias, false, normFirst, 1e-5, ...norms, ...fed]
    return callOperator('aten::_transformer_encoder_layer_fwd', args) as Tensor
  }
  t.equal(callOperator('aten::_nested_tensor_from_mask_left_aligned', [padded, valid]), true)
  for (const normFirst of [false, true]) {
    const nested = callOperator('aten::_nested_tensor_from_mask', [padded, valid]) as Tensor
    const result = layer(layer(nested, normFirst), normFirst)
    t.equal(callOperator('prim::is_nested', [result]), true)
    const out = callOperator('aten::to_padded_tensor', [result, -1]) as Tensor
    t.same(out.shape, [3, 3, 4], 'no longer than the longest')
    t.equal(callOperator('prim::is_nested', [out]), false)
    lengths.forEach((n, i) => {
      const row = callOperator('aten::narrow', [padded, 0, i, 1]) as Tensor
      const alone = layer(layer(callOperator('aten::narrow', [row, 1, 0, n]), normFirst), normFirst)
      const found = values(out).slice(i * 12, (i + 1) * 12)
      values(alone).forEach((want, k) => t.ok(Math.abs(found[k]! - want) < 1e-4, `sequence ${i} is computed as if alone`))
      t.same(
        found.slice(n * 4),
        range(12 - n * 4, () => -1),
        'padded behind its end',
      )
    })
    const larger = callOperator('aten::to_padded_tensor', [result, 0, [3, 5, 6]]) as Tensor
    t.same(larger.shape, [3, 5, 6])
  }
  const holes = tensor([1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0], [3, 4], 'bool')
  t.equal(callOperator('aten::_nested_tensor_from_mask_left_aligned', [padded, holes]), false)
  t.throws(() => callOperator('aten::_nested_tensor_from_mask', [padded, holes]), { message: /marks the start/ })
  t.throws(() => callOperator('aten::to_padded_tensor', [padded, 0]), { message: /expects a nested tensor/ })
  t.throws(() => callOperator('aten::_nested_tensor_from_mask', [padded, ones]), { message: /mask of dtype bool/ })
  t.end()
})
