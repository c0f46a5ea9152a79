import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { checkReal, computeType, dense, denseAddress } from '../support/real.js'
import type { CPU } from '../support/generated/interfaces.js'
import { native_batch_norm } from './batch-statistics.js'
import { checkBatchNorm, checkParameterTypes, inference, parameterType } from './support/batch-norm.js'

/** torch.batch_norm over dimension 1. */
export const batch_norm: CPU['batch_norm'] = (input, weight, bias, runningMean, runningVar, training, momentum, eps) => {
  checkBatchNorm('batch_norm', input, weight, bias, runningMean, runningVar)
  // nothing has no statistics, and changes none
  if (input.numel === 0) return empty(input.shape, input.type)
  if (training) return native_batch_norm(input, weight, bias, runningMean, runningVar, true, momentum, eps)[0]
  return inference('batch_norm', input, weight, bias, runningMean, runningVar, eps)
}

function layerNorm(
  operator: string,
  input: Tensor,
  normalizedShape: readonly number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  statistics: boolean,
): [Tensor, Tensor | null, Tensor | null] {
  const count = normalizedShape.length
  const text = `[${normalizedShape.join(', ')}]`
  check(count > 0, () => `${operator}: expected a normalized_shape with 1 or more dimensions`)
  const axis = input.dim - count
  check(
    axis >= 0 && normalizedShape.every((size, d) => input.shape[axis + d] === size),
    () => `${operator}: expected an input that ends in ${text}, found shape [${input.shape.join(', ')}]`,
  )
  for (const t of [weight, bias]) {
    check(
      t === null || (t.dim === count && t.shape.every((size, d) => size === normalizedShape[d])),
      () => `${operator}: expected weight and bias of shape ${text}, found [${t === null ? '' : t.shape.join(', ')}]`,
    )
  }
  checkReal(operator, input.type)
  checkParameterTypes(operator, input, [weight, bias])
  const inner = computeType(input.type)
  const size = numelOf(normalizedShape)
  const lead = input.shape.slice(0, axis)
  const rows = numelOf(lead)
  const result = empty(input.shape, inner)
  const shape = [...lead, ...normalizedShape.map(() => 1)]
  const mean = statistics ? empty(shape, inner) : null
  const rstd = statistics ? empty(shape, inner) : null
  if (rows > 0) {
    const x = dense(input, inner)
    kernels.layer_norm({
      dtype: inner,
      rows,
      size,
      input: x.address,
      output: result.address,
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      mean: mean === null ? 0 : mean.address,
      rstd: rstd === null ? 0 : rstd.address,
      eps,
    })
  }
  return [castTo(result, input.type), mean, rstd]
}

/** torch.layer_norm over the last dimensions, which have normalized_shape. */
export const layer_norm: CPU['layer_norm'] = (input, normalizedShape, weight, bias, eps) =>
  layerNorm('layer_norm', input, normalizedShape, weight, bias, eps, false)[0]

/** layer_norm with the mean and 1 / deviation of each row. */
export const native_layer_norm: CPU['native_layer_norm'] = (input, normalizedShape, weight, bias, eps, out0, out1, out2) => {
  const [result, mean, rstd] = layerNorm('native_layer_norm', input, normalizedShape, weight, bias, eps, true)
  const type = parameterType(input, weight)
  return [writeOut(result, out0), writeOut(castTo(mean!, type), out1), writeOut(castTo(rstd!, type), out2)]
}
