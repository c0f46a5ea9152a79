import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { transpose } from '../../tensor/view.js'
import { scaledMatmul } from '../support/matmul.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { tril } from './diagonal.js'
import { dropout } from './dropout.js'
import { ones } from './factory.js'

const shapeText = (t: Tensor): string => `[${t.shape.join(', ')}]`

/** -infinity where a bool mask is false; a mask of numbers is added. */
function maskScores(scores: Tensor, mask: Tensor): Tensor {
  if (mask.type !== DType.bool) return at.add_Tensor(scores, mask, 1)
  return at.masked_fill_Scalar(scores, at.logical_not(mask), -Infinity)
}

/**
 * softmax(query key^T / sqrt(e) + mask) value, and the attention weights. query [..., l, e], key [..., s, e], value
 * [..., s, ev]; a bool mask says which keys take part, a floating-point one is added.
 */
export const _scaled_dot_product_attention: Composite['_scaled_dot_product_attention'] = (
  query,
  key,
  value,
  attnMask,
  dropoutP,
  _needAttnWeights,
  isCausal,
) => {
  const operator = '_scaled_dot_product_attention'
  for (const t of [query, key, value]) {
    check(
      t.dim >= 2 && t.type === query.type,
      () => `${operator}: expected tensors of one dtype with 2 or more dimensions, found ${t.dtype}${shapeText(t)}`,
    )
  }
  check(!isCausal || attnMask === null, () => `${operator}: a mask cannot be given for causal attention`)
  let scores = scaledMatmul(query, transpose(key, -2, -1), 1 / Math.sqrt(query.shape[query.dim - 1]!))
  if (isCausal) scores = causal(scores)
  else if (attnMask !== null) scores = maskScores(scores, attnMask)
  const weights = dropout(at.softmax_int(scores, -1, null), dropoutP, dropoutP > 0)
  return [at.matmul(weights, value), weights]
}

/** The choice among PyTorch's ways to compute it. */
export { _scaled_dot_product_attention as _scaled_dot_product_attention_forward }

/** Each query sees the keys up to its own position. */
function causal(scores: Tensor): Tensor {
  const [rows, cols] = scores.shape.slice(-2) as [number, number]
  const options = { dtype: DType.bool, layout: null, device: null, pinMemory: null }
  return maskScores(scores, tril(ones([rows, cols], options), 0))
}
