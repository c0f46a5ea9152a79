import { check } from '../../error.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { resultStrides } from '../../tensor/iterator.js'
import { Float } from '../../tensor/scalar.js'
import { broadcastShapes, contiguousStrides, numelOf, sameShape, shapeText } from '../../tensor/shape.js'
import { empty, emptyStrided, type Tensor, viewOf } from '../../tensor/tensor.js'
import { transpose } from '../../tensor/view.js'
import { attend, type AttentionScores } from '../support/attention.js'
import { castTo } from '../support/copy.js'
import { expandTo } from '../support/make.js'
import { scaledMatmul } from '../support/matmul.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { tril } from './diagonal.js'
import { dropout } from './dropout.js'
import { ones } from './factory.js'
import { reshape } from './views.js'

/** softmax over `dim`, where a row of nothing but -infinity gives 0 (PyTorch's _safe_softmax). */
export function _safe_softmax(self: Tensor, dim: number, dtype: DType | null): Tensor {
  const weights = at.softmax_int(self, dim, dtype)
  const masked = at.all_dim(at.eq_Scalar(self, new Float(-Infinity)), dim, true)
  return at.masked_fill_Scalar(weights, masked, new Float(0))
}

function checkOperands(operator: string, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | null, causal: boolean): void {
  for (const t of [query, key, value]) {
    check(
      t.dim >= 2 && t.type === query.type && isFloating(t.type),
      () => `${operator}: expected floating-point tensors of one dtype with 2 or more dimensions, found ${t.dtype}${shapeText(t.shape)}`,
    )
  }
  check(!causal || mask === null, () => `${operator}: a mask cannot be given for causal attention`)
  check(
    mask === null || mask.dim >= 2 || query.dim !== 4,
    () => `${operator}: expected a mask with 2 or more dimensions, found ${mask!.dim}`,
  )
  check(
    mask === null || mask.type === DType.bool || mask.type === DType.float32 || mask.type === query.type,
    () => `${operator}: expected a mask of bool, float32 or ${query.dtype}, found ${mask!.dtype}`,
  )
}

/** Each head of `t` `times` times, as torch.repeat_interleave(t, times, -3) has them. */
function repeatHeads(t: Tensor, times: number): Tensor {
  if (times === 1) return t
  const [heads, rows, columns] = t.shape.slice(-3) as [number, number, number]
  const lead = t.shape.slice(0, -3)
  const apart = viewOf(t, [...lead, heads, times, rows, columns], [...t.strides.slice(0, -2), 0, ...t.strides.slice(-2)])
  return reshape(apart, [...lead, heads * times, rows, columns])
}

/** Keys and values with a head for every head of the queries, or, where `shared`, with as many heads as each other. */
function withHeads(operator: string, query: Tensor, key: Tensor, value: Tensor, shared: boolean): [Tensor, Tensor] {
  const heads = query.shape.at(-3)
  const own = [key, value].map((t) => t.shape.at(-3))
  for (const n of own) {
    check(
      heads !== undefined && n !== undefined && n > 0 && heads % n === 0,
      () => `${operator}: ${String(n)} heads of keys or values cannot serve ${String(heads)} heads of queries`,
    )
  }
  if (shared && own[0] === own[1]) return [key, value]
  return [repeatHeads(key, heads! / own[0]!), repeatHeads(value, heads! / own[1]!)]
}

/** All three with the same dimensions before the heads, and with the same heads where none are shared. */
function broadcastLead(query: Tensor, key: Tensor, value: Tensor, shared: boolean): [Tensor, Tensor, Tensor] {
  const inner = shared ? -3 : -2
  const leads = [query, key, value].map((t) => t.shape.slice(0, inner))
  if (leads.every((lead) => sameShape(lead, leads[0]!))) return [query, key, value]
  const lead = broadcastShapes(broadcastShapes(leads[0]!, leads[1]!), leads[2]!)
  return [query, key, value].map((t) => expandTo(t, [...lead, ...t.shape.slice(inner)])) as [Tensor, Tensor, Tensor]
}

/** With all dimensions before the last three as one. */
function asFour(t: Tensor): Tensor {
  return t.dim <= 4 ? t : reshape(t, [-1, ...t.shape.slice(-3)])
}

/** The mask of scores of this shape, as `asFour` leaves them. */
function maskAsFour(mask: Tensor, scores: readonly number[]): Tensor {
  check(
    sameShape(broadcastShapes(mask.shape, scores), scores),
    () => `scaled_dot_product_attention: a mask of shape ${shapeText(mask.shape)} cannot be broadcast to ${shapeText(scores)}`,
  )
  return scores.length <= 4 || mask.dim <= 3 ? mask : asFour(expandTo(mask, [...scores.slice(0, -3), ...mask.shape.slice(-3)]))
}

/**
 * Attention by the kernel, computed in float32, with the logarithms of the sums of exponentials where they are wanted. With `likeQuery` a result of the
 * query's shape lies in memory as the query does, as PyTorch's fused kernel leaves it; any other is contiguous.
 */
function byKernel(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  mask: Tensor | null,
  scores: AttentionScores,
  wantsSums: boolean,
  likeQuery: boolean,
): [Tensor, Tensor | null] {
  const rows = query.shape.slice(0, -1)
  const shape = [...rows, value.shape.at(-1)!]
  const strides = likeQuery && sameShape(shape, query.shape) ? resultStrides(shape, [query]) : contiguousStrides(shape)
  const sums = wantsSums ? empty(rows, DType.float32) : null
  const keys = key.shape.at(-2)!
  const added = mask === null ? null : maskAsFour(mask, [...rows, keys])
  if (numelOf(shape) === 0 || keys === 0) {
    return [at.zero_(empty(shape, query.type)), sums === null ? null : at.zero_(sums)]
  }
  const inner = isHalf(key.type) ? key.type : DType.float32
  const [q, k, v] = [castTo(asFour(query), DType.float32), castTo(asFour(key), inner), castTo(asFour(value), inner)]
  const out = emptyStrided(shape, strides, DType.float32)
  attend(q, k, v, added === null || added.type === DType.bool ? added : castTo(added, DType.float32), scores, asFour(out), sums)
  return [castTo(out, query.type), sums]
}

/** The scores of what a query sees, where that is the keys up to its own position. */
function causalScores(scores: Tensor): Tensor {
  const [rows, columns] = scores.shape.slice(-2) as [number, number]
  const seen = tril(ones([rows, columns], { dtype: DType.bool, layout: null, device: null, pinMemory: null }), 0)
  return at.masked_fill_Scalar(scores, at.logical_not(seen), new Float(-Infinity))
}

/** Attention by matrix products and softmax, for what the kernel does not compute: float64, random dropout, no depth. */
function byProducts(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  mask: Tensor | null,
  dropoutP: number,
  { scale, causal }: AttentionScores,
): Tensor {
  let scores = scaledMatmul(query, transpose(key, -2, -1), scale)
  if (causal) scores = causalScores(scores)
  else if (mask?.type === DType.bool) scores = at.masked_fill_Scalar(scores, at.logical_not(mask), new Float(-Infinity))
  else if (mask !== null) scores = castTo(at.add_Tensor(scores, mask, 1), query.type)
  return at.matmul(dropout(_safe_softmax(scores, -1, null), dropoutP, dropoutP > 0), value)
}

/**
 * softmax(scale query key^T + mask) value: query [..., H, L, E], key [..., S, E], value [..., S, Ev], of any floating-point dtype, gives [..., H, L, Ev]. A
 * bool mask says which keys take part, one of numbers is added; a row that sees no key is 0. `scale` is 1 / sqrt(E) by default.
 * With `enableGqa` a head of keys and values serves several heads of queries (torch.nn.functional.scaled_dot_product_attention).
 */
export const scaled_dot_product_attention: Composite['scaled_dot_product_attention'] = (
  query,
  key,
  value,
  attnMask,
  dropoutP,
  isCausal,
  scale,
  enableGqa,
) => {
  const operator = 'scaled_dot_product_attention'
  checkOperands(operator, query, key, value, attnMask, isCausal)
  const depth = query.shape[query.dim - 1]!
  check(key.shape.at(-1) === depth && key.shape.at(-2) === value.shape.at(-2), () => {
    const shapes = [query, key, value].map((t) => shapeText(t.shape)).join(', ')
    return `${operator}: query, key and value of shapes ${shapes} do not go together`
  })
  const scores = { scale: scale ?? 1 / Math.sqrt(depth), causal: isCausal, safe: true }
  const plain = query.type === DType.float64 || dropoutP > 0 || depth === 0
  const [k, v] = enableGqa ? withHeads(operator, query, key, value, !plain) : [key, value]
  if (plain) return byProducts(query, k, v, attnMask, dropoutP, depth === 0 ? { ...scores, scale: 1 } : scores)
  const shared = enableGqa && k.shape.at(-3) !== query.shape.at(-3)
  const fused = _fused_sdp_choice(query, key, value, attnMask, dropoutP, isCausal, scale, enableGqa) === 1
  return byKernel(...broadcastLead(query, k, v, shared), attnMask, scores, false, fused)[0]
}

/**
 * The same by matrix products, with the weights [..., H, L, S] as they are after dropout. Any mask is added, a bool one as ones and zeros, as PyTorch's
 * function does. `dropoutMask` (bool) says which weights are kept, in place of a draw. Operands of 16 bits are computed in float32.
 */
export const _scaled_dot_product_attention_math: Composite['_scaled_dot_product_attention_math'] = (
  query,
  key,
  value,
  attnMask,
  dropoutP,
  isCausal,
  dropoutMask,
  scale,
  enableGqa,
) => {
  const operator = '_scaled_dot_product_attention_math'
  for (const t of [query, key, value]) {
    check(
      t.dim >= 1 && isFloating(t.type),
      () => `${operator}: expected floating-point tensors with dimensions, found ${t.dtype}${shapeText(t.shape)}`,
    )
  }
  check(query.dim >= 2 || !isCausal, () => `${operator}: expected queries of 2 or more dimensions, found shape ${shapeText(query.shape)}`)
  check(!isCausal || attnMask === null, () => `${operator}: a mask cannot be given for causal attention`)
  const [q, k, v] = [query, ...(enableGqa ? withHeads(operator, query, key, value, false) : [key, value])].map((t) =>
    isHalf(t.type) ? castTo(t, DType.float32) : t,
  ) as [Tensor, Tensor, Tensor]
  const depth = query.shape[query.dim - 1]!
  let scores = scaledMatmul(q, transpose(k, -2, -1), scale ?? (depth === 0 ? 1 : 1 / Math.sqrt(depth)))
  if (isCausal) scores = causalScores(scores)
  else if (attnMask !== null) scores = at.add__Tensor(scores, attnMask, 1)
  let weights = _safe_softmax(scores, -1, null)
  let values = v
  if (dropoutP > 0 && dropoutMask !== null) {
    weights = at.masked_fill_Scalar(weights, at.logical_not(dropoutMask), new Float(0))
    values = at.mul_Scalar(v, new Float(1 / (1 - dropoutP)))
  } else if (dropoutP > 0) weights = dropout(weights, dropoutP, true)
  return [castTo(at.matmul(weights, values), query.type), castTo(weights, query.type)]
}

/** The same for [B, H, L, E] in all three, with the logarithm of each row's sum of exponentials: [B, H, L]. */
export const _scaled_dot_product_flash_attention_for_cpu: Composite['_scaled_dot_product_flash_attention_for_cpu'] = (
  query,
  key,
  value,
  dropoutP,
  isCausal,
  attnMask,
  scale,
) => {
  const operator = '_scaled_dot_product_flash_attention_for_cpu'
  for (const t of [query, key, value]) {
    check(
      t.dim === 4 && t.type === query.type && isFloating(t.type) && t.shape[3] === query.shape[3],
      () =>
        `${operator}: expected floating-point tensors of 4 dimensions with the same dtype and depth, found ${t.dtype}${shapeText(t.shape)}`,
    )
  }
  check(dropoutP === 0, () => `${operator}: dropout is not supported`)
  check(
    attnMask === null || attnMask.type === query.type || attnMask.type === DType.float32,
    () => `${operator}: expected a mask of ${query.dtype}, found ${attnMask!.dtype}`,
  )
  const scores = { scale: scale ?? 1 / Math.sqrt(query.shape[3]!), causal: isCausal, safe: true }
  const [output, sums] = byKernel(query, key, value, attnMask, scores, true, true)
  return [output, sums!]
}

/** Which way PyTorch would compute attention (SDPBackend): 1, the fused kernel, where the operands allow it, else 0, by matrix products. */
export const _fused_sdp_choice: Composite['_fused_sdp_choice'] = (query, key, value, attnMask, dropoutP, isCausal, _scale, enableGqa) => {
  checkOperands('_fused_sdp_choice', query, key, value, attnMask, isCausal)
  const same = [key, value].every((t) => t.dim === 4 && t.shape[3] === query.shape[3] && (enableGqa || t.shape[1] === query.shape[1]))
  const dense = [query, key, value].every((t) => t.strides.at(-1) === 1)
  return query.dim === 4 && same && dense && dropoutP === 0 && query.numel > 0 && key.numel > 0 ? 1 : 0
}
