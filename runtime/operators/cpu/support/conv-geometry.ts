import { type ConvSettings, three } from '../../../shapes/convolution.js'
import type { Tensor } from '../../../tensor/tensor.js'

/** What the frames of all convolutions have in common. */
export function geometry(input: Tensor, weight: Tensor, result: Tensor, settings: ConvSettings) {
  return {
    batch: input.shape[0]!,
    groups: settings.groups,
    in_channels: input.shape[1]!,
    out_channels: result.shape[1]!,
    in: three(input.shape, 1, 2),
    kernel: three(weight.shape, 1, 2),
    stride: three(settings.stride, 1),
    padding: three(settings.padding, 0),
    dilation: three(settings.dilation, 1),
    out: three(result.shape, 1, 2),
  }
}
