import { check } from '../../error.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import type { Composite } from '../support/generated/interfaces.js'
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
  return writeOut(contiguousOf(permuted(result, [2, 0, 1])), out)
}

/** `convolution` with the padding as 'same' or 'valid'. */
export const _convolution_mode: Composite['_convolution_mode'] = (input, weight, bias, stride, padding, dilation, groups) => {
  const count = weight.dim - 2
  check(count >= 1 && count <= 3, () => `convolution: expected a weight of 3 to 5 dimensions, found shape [${weight.shape.join(', ')}]`)
  const all = (values: number[]): number[] => (values.length === 1 ? new Array<number>(count).fill(values[0]!) : values)
  const conv = count === 1 ? at.conv1d_padding : count === 2 ? at.conv2d_padding : at.conv3d_padding
  return conv(input, weight, bias, all(stride), padding, all(dilation), groups)
}

function depthwise(
  operator: string,
  self: Tensor,
  weight: Tensor,
  kernel: readonly number[],
  bias: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
): Tensor {
  const rank = kernel.length + 2
  check(
    self.dim === rank && weight.dim === rank && weight.shape[1] === 1 && sameShape(weight.shape.slice(2), kernel),
    () =>
      `${operator}: expected an input of ${rank} dimensions and a weight [channels, 1, ${kernel.join(', ')}], found ${shapeText(self.shape)} and ${shapeText(weight.shape)}`,
  )
  return at.convolution(self, weight, bias, stride, padding, dilation, false, new Array<number>(kernel.length).fill(0), self.shape[1]!)
}

/** Each channel convolved with filters of its own: weight [channels * filters, 1, height, width]. */
export const _conv_depthwise2d: Composite['_conv_depthwise2d'] = (self, weight, kernel, bias, stride, padding, dilation, out) =>
  writeOut(depthwise('_conv_depthwise2d', self, weight, kernel, bias, stride, padding, dilation), out)

export const conv_depthwise3d: Composite['conv_depthwise3d'] = (self, weight, kernel, bias, stride, padding, dilation) =>
  depthwise('conv_depthwise3d', self, weight, kernel, bias, stride, padding, dilation)

export const _nnpack_spatial_convolution: Composite['_nnpack_spatial_convolution'] = (input, weight, bias, padding, stride) =>
  at.conv2d(input, weight, bias, stride, padding, [1, 1], 1)
