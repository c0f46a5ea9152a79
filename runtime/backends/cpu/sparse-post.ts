import type { Tensor } from '../../tensor/tensor.js'
import { sparse_blocked_convolution, sparse_convolution, sparse_linear } from './sparse-product.js'
import { postOpsOf } from './support/post-ops.js'

/** ptlite::sparse_linear, then element-wise steps, which its kernel carries out in registers where they are a chain. */
export function sparse_linear_post(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  form: string,
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const post = postOpsOf('ptlite::sparse_linear_post', operands, ops, values, numbers)
  return sparse_linear(input, weight, bias, form, min, max, post)
}

/** ptlite::sparse_convolution with steps, as `sparse_linear_post` has them. */
export function sparse_convolution_post(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const post = postOpsOf('ptlite::sparse_convolution_post', operands, ops, values, numbers)
  return sparse_convolution(input, weight, bias, min, max, post)
}

/** ptlite::sparse_blocked_convolution with steps behind residual and limits, as `sparse_linear_post` has them. */
export function sparse_blocked_convolution_post(
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  residual: Tensor | null,
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const post = postOpsOf('ptlite::sparse_blocked_convolution_post', operands, ops, values, numbers)
  return sparse_blocked_convolution(input, filter, bias, residual, min, max, post)
}
