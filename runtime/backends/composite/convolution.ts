import { check } from '../../error.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../cpu/support/copy.js'
import { deliver } from '../cpu/support/deliver.js'
import * as at from '../generated/dispatch.js'

/** The same dimensions in another order. */
function permuted(t: Tensor, order: readonly number[]): Tensor {
  return viewOf(
    t,
    order.map((d) => t.shape[d]!),
    order.map((d) => t.strides[d]!),
  )
}

/** Convolution over time: input [time, batch, in], weight [width, in, out], bias [out]. */
export function conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: number, out?: Tensor): Tensor {
  check(
    self.dim === 3 && weight.dim === 3 && bias.dim === 1,
    () => `conv_tbc: expected input, weight and bias with 3, 3 and 1 dimensions, found ${self.dim}, ${weight.dim} and ${bias.dim}`,
  )
  const result = at.conv1d(permuted(self, [1, 2, 0]), permuted(weight, [2, 1, 0]), bias, [1], [pad], [1], 1)
  return deliver(contiguousOf(permuted(result, [2, 0, 1])), out)
}

/** `convolution` with the padding as 'same' or 'valid'. */
export function _convolution_mode(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: number[],
  padding: string,
  dilation: number[],
  groups: number,
): Tensor {
  const count = weight.dim - 2
  check(count >= 1 && count <= 3, () => `convolution: expected a weight of 3 to 5 dimensions, found shape [${weight.shape.join(', ')}]`)
  const all = (values: number[]): number[] => (values.length === 1 ? new Array<number>(count).fill(values[0]!) : values)
  const conv = count === 1 ? at.conv1d_padding : count === 2 ? at.conv2d_padding : at.conv3d_padding
  return conv(input, weight, bias, all(stride), padding, all(dilation), groups)
}
