import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { stridesAs } from '../../tensor/iterator.js'
import { numelOf, sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'

/** How the scores of attention become weights. */
export interface AttentionScores {
  readonly scale: number
  /** Query i sees the keys up to i. */
  readonly causal: boolean
  /** A row that sees no key is 0, not NaN. */
  readonly safe: boolean
}

/** What rows of keys and of values of 8 bits are multiplied with, float32 [..., K, S, 1]. */
export interface RowScales {
  readonly key: Tensor | null
  readonly value: Tensor | null
}

/** The strides of batch, head, row and column; dimensions that a tensor lacks have one entry. */
function fourStrides(strides: readonly number[]): number[] {
  return [...new Array<number>(4 - strides.length).fill(0), ...strides]
}

function shapesText(tensors: readonly Tensor[]): string {
  return tensors.map((t) => `[${t.shape.join(', ')}]`).join(', ')
}

/** The heads of queries for each head of keys, or 0 where the shapes do not go together. */
function headsPerKey(query: Tensor, key: Tensor, value: Tensor): number {
  const rank = query.dim
  const [keys, width] = value.shape.slice(-2) as [number, number]
  const lead = key.shape.slice(0, -2)
  const fits =
    [key, value].every((t) => t.dim === rank) &&
    sameShape(key.shape, [...lead, keys, query.shape[rank - 1]!]) &&
    sameShape(value.shape, [...lead, keys, width]) &&
    sameShape(query.shape.slice(0, -3), lead.slice(0, -1))
  if (!fits) return 0
  if (rank === 2) return 1
  const group = query.shape[rank - 3]! / lead.at(-1)!
  return Number.isInteger(group) ? group : 0
}

/** The scales of rows, null where they have none. */
function scalesOf({ type, shape }: Tensor, scales: Tensor | null): Tensor | null {
  check((scales === null) === (type !== DType.int8), () => 'attention: expected scales for keys and values of 8 bits, and for these alone')
  if (scales === null) return null
  const wanted = [...shape.slice(0, -1), 1]
  check(
    scales.type === DType.float32 && sameShape(scales.shape, wanted),
    () => `attention: expected float32 scales of shape [${wanted.join(', ')}], found ${scales.dtype} [${scales.shape.join(', ')}]`,
  )
  return scales
}

/**
 * softmax(scale query key^T + mask) value for float32 query [..., H, L, D], key [..., K, S, D] and value [..., K, S, E], which may be of 16 bits, or of 8 with `scales`, of 2 to 4 dimensions
 * that all have elements; where there are fewer heads of keys than of queries, each serves H / K heads that lie behind each other. The
 * mask, of float32 (added) or bool (false leaves out), can be broadcast to [..., H, L, S]. The rows of `out` [..., H, L, E] are contiguous; `sums`,
 * dense [..., H, L], gets the logarithms of the sums of exponentials.
 */
export function attend(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  mask: Tensor | null,
  { scale, causal, safe }: AttentionScores,
  out: Tensor,
  sums: Tensor | null,
  scales: RowScales | null = null,
): void {
  const rank = query.dim
  check(rank >= 2 && rank <= 4, () => `attention: expected 2 to 4 dimensions, found ${rank}`)
  const group = headsPerKey(query, key, value)
  check(group > 0, () => `attention: query, key and value of shapes ${shapesText([query, key, value])} do not go together`)
  check(query.type === DType.float32, () => `attention: expected float32 queries, found ${query.dtype}`)
  check(
    key.type === value.type && (key.type === DType.float32 || isHalf(key.type) || (key.type === DType.int8 && scales !== null)),
    () => `attention: expected keys and values of float32 or of 16 bits, found ${key.dtype} and ${value.dtype}`,
  )
  const [keyScales, valueScales] = [scalesOf(key, scales?.key ?? null), scalesOf(value, scales?.value ?? null)]
  check(
    mask === null || mask.type === DType.float32 || mask.type === DType.bool,
    () => `attention: expected a mask of float32 or bool, found ${mask!.dtype}`,
  )
  const lead = query.shape.slice(0, -2)
  const [queries, depth] = query.shape.slice(-2) as [number, number]
  const [keys, width] = value.shape.slice(-2) as [number, number]
  check(queries * keys * depth * width > 0 && numelOf(lead) > 0, () => 'attention: expected tensors with elements')
  const scores = [...lead, queries, keys]
  check(
    mask === null || (mask.dim <= rank && mask.shape.every((n, d) => n === 1 || n === scores[rank - mask.dim + d])),
    () => `attention: a mask of shape [${mask!.shape.join(', ')}] cannot be broadcast to [${scores.join(', ')}]`,
  )
  kernels.attention({
    batch: rank === 4 ? lead[0]! : 1,
    kv_heads: rank === 2 ? 1 : key.shape[rank - 3]!,
    group,
    queries,
    keys,
    depth,
    width,
    causal: causal ? 1 : 0,
    safe: safe ? 1 : 0,
    mask_dtype: mask?.type ?? DType.float32,
    element: key.type,
    scale,
    query: query.address,
    key: key.address,
    value: value.address,
    key_scales: keyScales?.address ?? 0,
    value_scales: valueScales?.address ?? 0,
    mask: mask === null ? 0 : mask.address,
    out: out.address,
    sums: sums === null ? 0 : sums.address,
    query_strides: fourStrides(query.strides),
    key_strides: fourStrides(key.strides),
    value_strides: fourStrides(value.strides),
    key_scale_strides: fourStrides(keyScales?.strides ?? []).slice(0, 3),
    value_scale_strides: fourStrides(valueScales?.strides ?? []).slice(0, 3),
    mask_strides: mask === null ? [0, 0, 0, 0] : fourStrides(stridesAs(mask, scores)),
    out_strides: fourStrides(out.strides).slice(0, 3),
  })
}
