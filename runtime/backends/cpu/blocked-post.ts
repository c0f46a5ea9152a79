import type { Tensor } from '../../tensor/tensor.js'
import { blocked_convolution, blocked_depthwise, blocked_grouped_convolution, winograd_convolution } from './blocked.js'
import { postOpsOf } from './support/post-ops.js'

/** ptlite::blocked_convolution, then element-wise steps on rows of the result while they are in the caches; operands are in blocks, too. */
export function blocked_convolution_post(
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  residual: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const steps = postOpsOf('ptlite::blocked_convolution_post', operands, ops, values, numbers)
  return blocked_convolution(input, filter, bias, residual, stride, padding, dilation, min, max, steps)
}

/** ptlite::blocked_grouped_convolution with steps, as `blocked_convolution_post` has them. */
export function blocked_grouped_convolution_post(
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  residual: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
  groups: number,
  inputs: number,
  outputs: number,
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const steps = postOpsOf('ptlite::blocked_grouped_convolution_post', operands, ops, values, numbers)
  return blocked_grouped_convolution(input, filter, bias, residual, stride, padding, dilation, groups, inputs, outputs, min, max, steps)
}

/** ptlite::blocked_depthwise with steps, as `blocked_convolution_post` has them. */
export function blocked_depthwise_post(
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const steps = postOpsOf('ptlite::blocked_depthwise_post', operands, ops, values, numbers)
  return blocked_depthwise(input, filter, bias, stride, padding, dilation, min, max, steps)
}

/** ptlite::winograd_convolution with steps, as `blocked_convolution_post` has them. */
export function winograd_convolution_post(
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  residual: Tensor | null,
  padding: number[],
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const steps = postOpsOf('ptlite::winograd_convolution_post', operands, ops, values, numbers)
  return winograd_convolution(input, filter, bias, residual, padding, min, max, steps)
}
