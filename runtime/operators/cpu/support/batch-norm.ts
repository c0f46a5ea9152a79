import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { DType } from '../../../tensor/dtype.js'
import { numelOf } from '../../../tensor/shape.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { castTo, laidOutInFormatOf } from '../../support/copy.js'
import { checkReal, computeType, dense, denseAddress } from '../../support/real.js'

/** float32 or float64 parameters of half inputs stay in float32. */
export function parameterType(input: Tensor, other: Tensor | null): DType {
  return other === null ? input.type : other.type
}

/** Parameters are of one dtype: the input's, or float32 for half inputs. */
export function checkParameterTypes(operator: string, input: Tensor, parameters: readonly (Tensor | null)[]): void {
  let type: DType | null = null
  for (const t of parameters) {
    if (t === null) continue
    const fits = t.type === input.type || (t.type === DType.float32 && computeType(input.type) === DType.float32)
    if (!fits || (type !== null && t.type !== type)) {
      throw new PtliteError('INVALID_DTYPE', `${operator}: expected parameters of dtype ${input.dtype}, found ${t.dtype}`)
    }
    type = t.type
  }
}

export function checkChannels(operator: string, name: string, t: Tensor | null, channels: number): void {
  check(
    t === null || t.numel === channels,
    () => `${operator}: expected ${name} with ${channels} elements, found shape [${t === null ? '' : t.shape.join(', ')}]`,
  )
}

export function innerOf(t: Tensor): number {
  return numelOf(t.shape.slice(2))
}

export function checkBatchNorm(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor | null,
  variance: Tensor | null,
): void {
  check(input.dim >= 2, () => `${operator}: expected an input with 2 or more dimensions, found shape [${input.shape.join(', ')}]`)
  checkReal(operator, input.type)
  const channels = input.shape[1]!
  checkChannels(operator, 'weight', weight, channels)
  checkChannels(operator, 'bias', bias, channels)
  checkChannels(operator, 'running_mean', mean, channels)
  checkChannels(operator, 'running_var', variance, channels)
  checkParameterTypes(operator, input, [weight, bias, mean, variance])
}

/** (in - mean) * scale * weight + bias with the mean and variance, or 1 / deviation, of each channel. */
export function applyBatchNorm(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor,
  variance: Tensor,
  inverted: boolean,
  eps: number,
): Tensor {
  const inner = computeType(input.type)
  const result = empty(input.shape, inner)
  if (result.numel > 0) {
    const x = dense(input, inner)
    kernels.batch_norm({
      dtype: inner,
      inverted: inverted ? 1 : 0,
      outer: input.shape[0]!,
      channels: input.shape[1]!,
      inner: innerOf(input),
      input: x.address,
      output: result.address,
      mean: denseAddress(mean, inner),
      var: denseAddress(variance, inner),
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      eps,
    })
  }
  return laidOutInFormatOf(castTo(result, input.type), input)
}

export function inference(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  eps: number,
): Tensor {
  check(runningMean !== null && runningVar !== null, () => `${operator}: expected running_mean and running_var outside of training`)
  return applyBatchNorm(input, weight, bias, runningMean, runningVar, false, eps)
}
