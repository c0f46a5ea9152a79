import { PtliteError } from '../../runtime/error.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Output } from './convert.js'

/**
 * A result with the last row alone of its first tensor, of `logits` in a dict: [..., 1, columns]. What has one row is left as it is. Throws INVALID_ARGUMENT
 * where there are no rows.
 */
export function lastRow(output: Output): Output {
  if (output instanceof Tensor) return cut(output)
  if (Array.isArray(output)) return output.with(0, lastRow(output[0] ?? null))
  if (!(output instanceof Map))
    throw new PtliteError('INVALID_ARGUMENT', `outputs: 'last' needs a tensor as result, found ${kindOf(output)}`)
  const key = output.has('logits') ? 'logits' : [...output.keys()][0]!
  return new Map([...output].map(([name, value]) => [name, name === key ? lastRow(value) : value]))
}

function cut(tensor: Tensor): Tensor {
  const rows = tensor.shape.at(-2) ?? 0
  if (rows === 0)
    throw new PtliteError('INVALID_ARGUMENT', `outputs: 'last' needs rows, found a tensor of shape [${tensor.shape.join(', ')}]`)
  if (rows === 1) return tensor
  return tensor.slice(-2, rows - 1, rows).clone()
}
