import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { clamped_linear, fused, isDirectLinear } from './compiled.js'
import { linearInto, matmul } from './matmul.js'
import { CONV_AXES, convolve } from './support/conv.js'
import { convSizes } from './support/conv-shape.js'
import { limitsOf } from './support/limits.js'
import { postFields, type PostOps, postOpsOf, takesPostOps } from './support/post-ops.js'
import { product } from './support/product.js'

/** The steps on a finished tensor, in a pass of their own: where the kernel cannot take them. */
export function applySteps(result: Tensor, { operands, ops, values, numbers }: PostOps): Tensor {
  return fused([result, ...operands], [...result.shape], [...ops], [...values], [...numbers], null)
}

/** ptlite::convolution, then element-wise steps on blocks of the result while they are in the caches. float32. */
export function convolution_post(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
  groups: number,
  min: number,
  max: number,
  operands: Tensor[],
  ops: number[],
  values: number[],
  numbers: number[],
): Tensor {
  const steps = postOpsOf('ptlite::convolution_post', operands, ops, values, numbers)
  const settings = { stride, padding, dilation, groups }
  const batched = input.dim === weight.dim
  const x = batched ? input : viewOf(input, [1, ...input.shape], [0, ...input.strides])
  // operands line up with the last dimensions, so the one that is put in front is none of theirs
  const shape = [x.shape[0]!, weight.shape[0]!, ...convSizes('ptlite::convolution_post', x, weight, settings, padding)]
  const fits = input.type === DType.float32 && takesPostOps(steps, shape, CONV_AXES)
  const result = convolve('ptlite::convolution_post', x, weight, bias, settings, padding, limitsOf(min, max), 0, fits ? steps : null)
  const whole = fits ? result : applySteps(result, steps)
  return batched ? whole : viewOf(whole, whole.shape.slice(1), whole.strides.slice(1))
}

/** ptlite::linear, then element-wise steps on blocks of the result while they are in the caches. float32. */
export function linear_post(
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
  const steps = postOpsOf('ptlite::linear_post', operands, ops, values, numbers)
  const shape = [...input.shape.slice(0, -1), weight.shape[0]!]
  const axes = { row: 0, column: shape.length - 1 }
  if (input.type !== DType.float32 || !isDirectLinear(input, weight, bias) || !takesPostOps(steps, shape, axes))
    return applySteps(clamped_linear(input, weight, bias, min, max), steps)
  return linearInto(input, weight, bias, limitsOf(min, max) !== null, min, max, 0, (frame) => {
    kernels.linear_post({ ...frame, ...postFields(steps, shape, axes) })
  })
}

/** A product of matrices, or of as many pairs of them, then element-wise steps on blocks of the result while they are in the caches. float32. */
export function matmul_post(self: Tensor, other: Tensor, operands: Tensor[], ops: number[], values: number[], numbers: number[]): Tensor {
  const steps = postOpsOf('ptlite::matmul_post', operands, ops, values, numbers)
  const rank = self.dim
  const fits =
    self.type === DType.float32 &&
    other.type === DType.float32 &&
    rank === other.dim &&
    (rank === 2 || (rank === 3 && self.shape[0] === other.shape[0])) &&
    self.shape[rank - 1] === other.shape[rank - 2]
  const shape = [...self.shape.slice(0, -1), other.shape[other.dim - 1]!]
  const axes = { row: rank - 2, column: rank - 1 }
  if (!fits || !takesPostOps(steps, shape, axes)) return applySteps(matmul(self, other), steps)
  return product('ptlite::matmul_post', shape, self, other, 1, null, undefined, postFields(steps, shape, axes))
}
