import { check } from '../../error.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { select, unsqueeze } from '../../tensor/view.js'
import { writeOut, writeOutExact } from '../support/write-out.js'
import { reshaped } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'

/** Names of PyTorch's convolutions on the CPU without a library. All are the one convolution that there is here. */

const NO_PADDING = [0]

function checkKernel(operator: string, weight: Tensor, kernel: readonly number[]): void {
  check(
    weight.dim === kernel.length + 2 && sameShape(weight.shape.slice(2), kernel),
    () => `${operator}: expected a weight with a kernel of [${kernel.join(', ')}], found shape ${shapeText(weight.shape)}`,
  )
}

function checkBatch(operator: string, self: Tensor, dims: number): void {
  check(self.dim === dims, () => `${operator}: expected an input of ${dims} dimensions, found shape ${shapeText(self.shape)}`)
}

/** Input [n, c, h, w]; weight [out, c, kernel...], or [out, c * kernel...]. */
export const thnn_conv2d: Composite['thnn_conv2d'] = (self, weight, kernel, bias, stride, padding, out) => {
  const operator = 'thnn_conv2d'
  checkBatch(operator, self, 4)
  const channels = self.shape[1]!
  const flat = weight.dim === 2 && weight.shape[1] === channels * kernel[0]! * kernel[1]!
  const filter = flat ? reshaped(weight, [weight.shape[0]!, channels, ...kernel]) : weight
  checkKernel(operator, filter, kernel)
  return writeOutExact(at.convolution(self, filter, bias, stride, padding, [1], false, NO_PADDING, 1), out, operator)
}

export { thnn_conv2d as _slow_conv2d_forward }

/** Input [n, c, d, h, w]; a weight for a part of the channels makes as many groups as there are parts. */
export const slow_conv3d: Composite['slow_conv3d'] = (self, weight, kernel, bias, stride, padding, out) => {
  const operator = 'slow_conv3d'
  checkBatch(operator, self, 5)
  checkKernel(operator, weight, kernel)
  const groups = self.shape[1]! / weight.shape[1]!
  check(Number.isInteger(groups), () => `${operator}: ${self.shape[1]!} channels are no multiple of the weight's ${weight.shape[1]!}`)
  return writeOutExact(at.convolution(self, weight, bias, stride, padding, [1], false, NO_PADDING, groups), out, operator)
}

export { slow_conv3d as slow_conv3d_forward }

/** Input [n, c, ...] or [c, ...]. */
export const slow_conv_dilated2d: Composite['slow_conv_dilated2d'] = (self, weight, kernel, bias, stride, padding, dilation) => {
  checkKernel('slow_conv_dilated', weight, kernel)
  const conv = kernel.length === 2 ? at.conv2d : at.conv3d
  return conv(self, weight, bias, stride, padding, dilation, 1)
}

export { slow_conv_dilated2d as slow_conv_dilated3d }

/** Input [n, c, ...] or [c, ...], of which an image gives a batch of one as in PyTorch, a volume a volume; weight [c, out, kernel...]. */
export const slow_conv_transpose2d: Composite['slow_conv_transpose2d'] = (
  self,
  weight,
  kernel,
  bias,
  stride,
  padding,
  outputPadding,
  dilation,
  out,
) => {
  checkKernel('slow_conv_transpose', weight, kernel)
  const lone = self.dim === kernel.length + 1
  const result = at.convolution(lone ? unsqueeze(self, 0) : self, weight, bias, stride, padding, dilation, true, outputPadding, 1)
  return writeOut(lone && kernel.length === 3 ? select(result, 0, 0) : result, out)
}

export { slow_conv_transpose2d as slow_conv_transpose3d }
