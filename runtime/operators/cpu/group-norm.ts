import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, laidOutInFormatOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { checkReal, computeType, dense, denseAddress } from '../support/real.js'
import type { CPU } from '../support/generated/interfaces.js'
import { checkChannels, checkParameterTypes, innerOf, parameterType } from './support/batch-norm.js'

function groupNorm(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  batch: number,
  channels: number,
  inside: number,
  groups: number,
  eps: number,
  statistics: boolean,
): [Tensor, Tensor | null, Tensor | null] {
  check(groups > 0 && channels % groups === 0, () => `${operator}: ${channels} channels cannot be split into ${groups} groups`)
  checkChannels(operator, 'weight', weight, channels)
  checkChannels(operator, 'bias', bias, channels)
  check(
    input.numel === batch * channels * inside,
    () => `${operator}: expected ${batch} x ${channels} x ${inside} elements, found shape [${input.shape.join(', ')}]`,
  )
  checkReal(operator, input.type)
  checkParameterTypes(operator, input, [weight, bias])
  const inner = computeType(input.type)
  const result = empty(input.shape, inner)
  const mean = statistics ? empty([batch, groups], inner) : null
  const rstd = statistics ? empty([batch, groups], inner) : null
  if (input.numel > 0) {
    const x = dense(input, inner)
    kernels.group_norm({
      dtype: inner,
      batch,
      groups,
      channels: channels / groups,
      inner: inside,
      input: x.address,
      output: result.address,
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      mean: mean === null ? 0 : mean.address,
      rstd: rstd === null ? 0 : rstd.address,
      eps,
    })
  }
  return [laidOutInFormatOf(castTo(result, input.type), input), mean, rstd]
}

/** torch.group_norm: input [n, c, ...]. */
export const group_norm: CPU['group_norm'] = (input, numGroups, weight, bias, eps) => {
  check(input.dim >= 2, () => `group_norm: expected an input with 2 or more dimensions, found shape [${input.shape.join(', ')}]`)
  return groupNorm('group_norm', input, weight, bias, input.shape[0]!, input.shape[1]!, innerOf(input), numGroups, eps, false)[0]
}

/** group_norm of an input seen as [n, c, hxw], with the mean and 1 / deviation of each group. */
export const native_group_norm: CPU['native_group_norm'] = (input, weight, bias, n, c, hxw, group, eps, out0, out1, out2) => {
  const [result, mean, rstd] = groupNorm('native_group_norm', input, weight, bias, n, c, hxw, group, eps, true)
  const type = parameterType(input, weight)
  return [writeOut(result, out0), writeOut(castTo(mean!, type), out1), writeOut(castTo(rstd!, type), out2)]
}
