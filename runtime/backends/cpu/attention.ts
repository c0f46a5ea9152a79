import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { stridesAs } from '../../tensor/iterator.js'
import { numelOf, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { rowsFirstStrides } from './support/attention-layout.js'

/** The strides of batch, head, row and column; dimensions that a tensor lacks have one entry. */
function fourStrides(strides: readonly number[]): number[] {
  return [...new Array<number>(4 - strides.length).fill(0), ...strides]
}

/**
 * softmax(scale query key^T + mask) value for float32 query [..., L, D], key [..., S, D] and value [..., S, E], with none to two
 * dimensions before the matrices, the same in all three; the mask can be broadcast to [..., L, S]. The result is [..., L, E]; with
 * `rowsFirst` its rows are outside of the heads in memory, which is dense as [batch, L, heads, E].
 */
export function attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | null, scale: number, rowsFirst: boolean): Tensor {
  const rank = query.dim
  check(rank >= 2 && rank <= 4, () => `ptlite::attention: expected 2 to 4 dimensions, found ${rank}`)
  const lead = query.shape.slice(0, -2)
  const [queries, depth] = query.shape.slice(-2) as [number, number]
  const [keys, width] = value.shape.slice(-2) as [number, number]
  check(sameShape(key.shape, [...lead, keys, depth]) && sameShape(value.shape, [...lead, keys, width]), () => {
    const shapes = [query, key, value].map((t) => `[${t.shape.join(', ')}]`).join(', ')
    return `ptlite::attention: query, key and value of shapes ${shapes} do not go together`
  })
  for (const t of [query, key, value, mask])
    check(t === null || t.type === DType.float32, () => `ptlite::attention: expected float32 tensors, found ${t!.dtype}`)
  check(queries * keys * depth * width > 0 && numelOf(lead) > 0, () => 'ptlite::attention: expected tensors with elements')
  const result = outputFor(lead, queries, width, rowsFirst)
  kernels.attention({
    batch: rank === 4 ? lead[0]! : 1,
    heads: lead.at(-1) ?? 1,
    queries,
    keys,
    depth,
    width,
    scale,
    query: query.address,
    key: key.address,
    value: value.address,
    mask: mask === null ? 0 : mask.address,
    out: result.address,
    query_strides: fourStrides(query.strides),
    key_strides: fourStrides(key.strides),
    value_strides: fourStrides(value.strides),
    mask_strides: mask === null ? [0, 0, 0, 0] : fourStrides(stridesAs(mask, [...lead, queries, keys])),
    out_strides: fourStrides(result.strides).slice(0, 3),
  })
  return result
}

function outputFor(lead: readonly number[], queries: number, width: number, rowsFirst: boolean): Tensor {
  const heads = lead.at(-1)
  if (!rowsFirst || heads === undefined) return empty([...lead, queries, width], DType.float32)
  const result = empty([...lead.slice(0, -1), queries, heads, width], DType.float32)
  return viewOf(result, [...lead, queries, width], rowsFirstStrides(lead, queries, width))
}
