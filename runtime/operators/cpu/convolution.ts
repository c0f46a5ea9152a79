import { check } from '../../error.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { convolve } from './support/conv.js'
import { perDimension } from '../../shapes/convolution.js'
import type { CPU } from '../support/generated/interfaces.js'

/** Runs `body` on the input with a batch dimension, which is taken off again where the input had none. */
export function batched(operator: string, input: Tensor, count: number, body: (x: Tensor) => Tensor): Tensor {
  if (input.dim === count + 2) return body(input)
  check(
    input.dim === count + 1,
    () => `${operator}: expected an input with ${count + 1} or ${count + 2} dimensions, found shape [${input.shape.join(', ')}]`,
  )
  const result = body(viewOf(input, [1, ...input.shape], [0, ...input.strides]))
  return viewOf(result, result.shape.slice(1), result.strides.slice(1))
}

export function convNd(
  count: number,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: number[],
  padding: readonly number[],
  behind: readonly number[] | null,
  dilation: number[],
  groups: number,
): Tensor {
  const operator = `conv${count}d`
  const settings = {
    stride: perDimension(operator, 'stride', stride, count),
    padding: perDimension(operator, 'padding', padding, count),
    dilation: perDimension(operator, 'dilation', dilation, count),
    groups,
  }
  if (input.dim === count + 2) return convolve(operator, input, weight, bias, settings, behind ?? settings.padding)
  return batched(operator, input, count, (x) => convolve(operator, x, weight, bias, settings, behind ?? settings.padding))
}

export const conv2d: CPU['conv2d'] = (input, weight, bias, stride, padding, dilation, groups) =>
  convNd(2, input, weight, bias, stride, padding, null, dilation, groups)
