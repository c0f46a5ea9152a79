import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { asNested, sequenceLengths } from '../../tensor/sparse.js'
import { sameShape } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { paddingMask } from './nested.js'

/** The mask type of a mask [batch, length] of keys. */
const KEY_PADDING = 1

/** Rows `from` to `to` of dimension 0. */
function rows(t: Tensor, from: number, to: number): Tensor {
  return viewOf(t, [to - from, ...t.shape.slice(1)], t.strides, t.offset + from * t.strides[0]!)
}

/** [batch, length, heads * size] as [batch, heads, length, size]. */
function splitHeads(t: Tensor, heads: number): Tensor {
  const [batch, length, width] = t.shape as [number, number, number]
  const [a, b, c] = t.strides as [number, number, number]
  const size = width / heads
  return viewOf(t, [batch, heads, length, size], [a, size * c, b, c])
}

/** The inverse of splitHeads, in new memory. */
function joinHeads(t: Tensor): Tensor {
  const [batch, heads, length, size] = t.shape as [number, number, number, number]
  const [a, b, c, d] = t.strides as [number, number, number, number]
  const joined = contiguousOf(viewOf(t, [batch, length, heads, size], [a, c, b, d]))
  return viewOf(joined, [batch, length, heads * size], [length * heads * size, heads * size, 1])
}

function transposeLast(t: Tensor): Tensor {
  const swap = (v: readonly number[]): number[] => [...v.slice(0, -2), v[t.dim - 1]!, v[t.dim - 2]!]
  return viewOf(t, swap(t.shape), swap(t.strides))
}

/** softmax where the elements that the bool mask of the same shape marks count for nothing; NaN where it marks all. */
export function _masked_softmax(self: Tensor, mask: Tensor, dim: number | null, maskType: number | null): Tensor {
  check(mask.type === DType.bool, () => `_masked_softmax expects a bool mask, found ${mask.dtype}`)
  check(maskType !== null, () => '_masked_softmax expects a mask type')
  check(
    sameShape(self.shape, mask.shape),
    () => `_masked_softmax expects a mask of shape [${self.shape.join(', ')}], found [${mask.shape.join(', ')}]`,
  )
  return at.softmax_int(at.masked_fill_Scalar(self, mask, -Infinity), dim ?? self.dim - 1, null)
}

/** A mask [batch, length] marks keys to leave out, whatever the mask type says (at::masked_softmax on the CPU). */
function maskedWeights(scores: Tensor, mask: Tensor, maskType: number | null): Tensor {
  let marks = mask.type === DType.bool ? mask : at.ne_Scalar(mask, 0)
  if (marks.dim === 2) {
    const [batch, , , length] = scores.shape as [number, number, number, number]
    check(
      marks.shape[0] === batch && marks.shape[1] === length,
      () => `expected a mask of shape [${batch}, ${length}], found [${marks.shape.join(', ')}]`,
    )
    marks = viewOf(marks, scores.shape, [marks.strides[0]!, 0, 0, marks.strides[1]!])
  }
  return _masked_softmax(scores, marks, scores.dim - 1, maskType)
}

/**
 * (qkv + bias) as query / sqrt(size), key and value, each [batch, heads, length, size]. qkv is
 * [batch, length, 3 * heads * size].
 */
export function _transform_bias_rescale_qkv(qkv: Tensor, qkvBias: Tensor, numHeads: number): [Tensor, Tensor, Tensor] {
  check(qkv.dim === 3 && qkv.shape[2]! % 3 === 0, () => `expected [batch, length, 3 * width], found [${qkv.shape.join(', ')}]`)
  const width = qkv.shape[2]! / 3
  check(numHeads > 0 && width % numHeads === 0, () => `expected a width that ${numHeads} heads can share, found ${width}`)
  const sum = at.add_Tensor(qkv, qkvBias, 1)
  const part = (i: number): Tensor => {
    const view = viewOf(sum, [sum.shape[0]!, sum.shape[1]!, width], sum.strides, sum.offset + i * width * sum.strides[2]!)
    return contiguousOf(splitHeads(view, numHeads))
  }
  return [at.mul_Scalar(part(0), 1 / Math.sqrt(width / numHeads)), part(1), part(2)]
}

/** Query, key and value times their thirds of the weight. One product serves self-attention, and finds the packed weight again. */
function projections([query, key, value]: [Tensor, Tensor, Tensor], weight: Tensor, bias: Tensor): Tensor[] {
  const width = bias.shape[0]! / 3
  if (query === key && key === value) {
    const all = at.linear(query, weight, bias)
    return [0, 1, 2].map((part) => viewOf(all, query.shape, all.strides, all.offset + part * width * all.strides[2]!))
  }
  return [query, key, value].map((t, part) =>
    at.linear(t, rows(weight, part * width, (part + 1) * width), rows(bias, part * width, (part + 1) * width)),
  )
}

/**
 * Multi-head attention with all projections: query, key, value [batch, length, embedDim]; qkvWeight [3 embedDim, embedDim]
 * holds the three input projections. Returns the output and, if wanted, the attention weights: [batch, length, length],
 * averaged over heads, or [batch, heads, length, length].
 */
export const _native_multi_head_attention: Composite['_native_multi_head_attention'] = (
  query,
  key,
  value,
  embedDim,
  numHead,
  qkvWeight,
  qkvBias,
  projWeight,
  projBias,
  mask,
  needWeights,
  averageAttnWeights,
  maskType,
) => {
  for (const t of [query, key, value]) {
    check(
      t.dim === 3 && t.shape[2] === embedDim,
      () => `expected query, key and value of shape [batch, length, ${embedDim}], found [${t.shape.join(', ')}]`,
    )
  }
  check(sameShape(query.shape, key.shape) && sameShape(key.shape, value.shape), () => 'expected query, key and value of one shape')
  check(numHead > 0 && embedDim % numHead === 0, () => `expected an embedding that ${numHead} heads can share, found ${embedDim}`)
  check(
    qkvWeight.dim === 2 && qkvWeight.shape[0] === 3 * embedDim,
    () => `expected a weight of shape [${3 * embedDim}, ${embedDim}], found [${qkvWeight.shape.join(', ')}]`,
  )
  check(
    qkvBias.dim === 1 && qkvBias.shape[0] === 3 * embedDim,
    () => `expected a bias of shape [${3 * embedDim}], found [${qkvBias.shape.join(', ')}]`,
  )
  const [q, k, v] = projections([query, key, value], qkvWeight, qkvBias).map((t) => splitHeads(t, numHead)) as [Tensor, Tensor, Tensor]
  const scale = 1 / Math.sqrt(embedDim / numHead)
  const scores = at.matmul(at.mul_Scalar(q, scale), transposeLast(k))
  const weights = mask === null ? at.softmax_int(scores, -1, null) : maskedWeights(scores, mask, maskType)
  const output = at.linear(joinHeads(at.matmul(weights, v)), projWeight, projBias)
  if (!needWeights) {
    // PyTorch returns an undefined tensor, which is None to everybody who looks at it
    return [output, null as unknown as Tensor]
  }
  return [output, averageAttnWeights ? at.mean_dim(weights, [1], false, null) : weights]
}

/** One layer of a transformer's encoder: attention and a feed-forward net, each added to its input and normalised. */
export const _transformer_encoder_layer_fwd: Composite['_transformer_encoder_layer_fwd'] = (
  src,
  embedDim,
  numHeads,
  qkvWeight,
  qkvBias,
  projWeight,
  projBias,
  useGelu,
  normFirst,
  eps,
  normWeight1,
  normBias1,
  normWeight2,
  normBias2,
  ffnWeight1,
  ffnBias1,
  ffnWeight2,
  ffnBias2,
  mask,
  maskType,
) => {
  const lengths = sequenceLengths(src)
  check(lengths === null || mask === null, () => 'expected no mask with a nested tensor, whose lengths are known')
  const marks = lengths === null ? mask : paddingMask(lengths)
  const type = lengths === null ? maskType : KEY_PADDING
  const norm1 = (t: Tensor): Tensor => at.layer_norm(t, [embedDim], normWeight1, normBias1, eps, true)
  const norm2 = (t: Tensor): Tensor => at.layer_norm(t, [embedDim], normWeight2, normBias2, eps, true)
  const attend = (t: Tensor): Tensor =>
    _native_multi_head_attention(t, t, t, embedDim, numHeads, qkvWeight, qkvBias, projWeight, projBias, marks, false, true, type)[0]
  const feed = (t: Tensor): Tensor => {
    const inner = at.linear(t, ffnWeight1, ffnBias1)
    return at.linear(useGelu ? at.gelu(inner, 'none') : at.relu_(inner), ffnWeight2, ffnBias2)
  }
  const layer = (): Tensor => {
    if (normFirst) {
      const attended = at.add_Tensor(attend(norm1(src)), src, 1)
      return at.add_Tensor(feed(norm2(attended)), attended, 1)
    }
    const attended = norm1(at.add_Tensor(attend(src), src, 1))
    return norm2(at.add_Tensor(feed(attended), attended, 1))
  }
  return lengths === null ? layer() : asNested(layer(), lengths)
}
