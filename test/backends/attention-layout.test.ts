import t from 'tap'
import { callOperator, type Tensor, tensor } from '../../src/index.js'

const op = (name: string, ...rest: unknown[]): Tensor => callOperator(`aten::${name}`, rest as never[]) as Tensor
const random = (...shape: number[]): Tensor =>
  tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i)),
    shape,
    'float32',
  )
const [B, H, L, E] = [2, 3, 5, 8] as const
const key = random(B, H, 7, E)

interface Row {
  readonly query: Tensor
  readonly value?: Tensor
  readonly strides: readonly number[]
}

/** Strides of the results as PyTorch 2.13 has them (torch.nn.functional.scaled_dot_product_attention). */
const ROWS: Readonly<Record<string, Row>> = {
  'a contiguous query': { query: random(B, H, L, E), strides: [120, 40, 8, 1] },
  'rows outside of heads': { query: op('transpose.int', random(B, L, H, E), 1, 2), strides: [120, 8, 24, 1] },
  'a part of queries, keys and values in one': {
    query: op('select.int', op('permute', random(B, L, 3, H, E), [2, 0, 3, 1, 4]), 0, 0),
    strides: [120, 8, 24, 1],
  },
  'rows outside of the batch': { query: op('permute', random(L, B, H, E), [1, 2, 0, 3]), strides: [24, 8, 48, 1] },
  'one head for all': { query: op('expand', random(B, 1, L, E), [B, H, L, E]), strides: [120, 40, 8, 1] },
  'values of another width': {
    query: op('transpose.int', random(B, L, H, E), 1, 2),
    value: random(B, H, 7, 4),
    strides: [60, 20, 4, 1],
  },
  'columns outside of rows': { query: op('transpose.int', random(B, H, E, L), 2, 3), strides: [120, 40, 8, 1] },
}

for (const [name, { query, value = key, strides }] of Object.entries(ROWS)) {
  t.test(`scaled_dot_product_attention: the layout of ${name}`, (t) => {
    const result = op('scaled_dot_product_attention', query, key, value)
    t.strictSame(result.strides, strides)
    const contiguous = op('scaled_dot_product_attention', op('contiguous', query), key, value)
    t.strictSame(result.toArray(), contiguous.toArray())
    t.end()
  })
}

t.test('heads outside of rows become one dimension without a copy', (t) => {
  const attended = op('scaled_dot_product_attention', op('transpose.int', random(B, L, H, E), 1, 2), key, key)
  t.strictSame(op('view', op('transpose.int', attended, 1, 2), [B, L, H * E]).shape, [B, L, H * E])
  t.end()
})
