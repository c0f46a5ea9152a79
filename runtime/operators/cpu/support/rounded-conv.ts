import * as kernels from '../../../native/generated/kernels.js'
import type { ConvSettings } from '../../../shapes/convolution.js'
import type { PostFields } from '../../../shapes/post-ops.js'
import { DType } from '../../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../../tensor/tensor.js'
import { contiguousOf } from '../../support/copy.js'
import { type RoundedWeight, roundedLinear } from '../../support/rounded-weight.js'
import { geometry } from './conv-geometry.js'
import { type Clamp, clampFields } from './limits.js'

/**
 * Convolution in one group of float32 with a filter in few bits, which was `weight`, to a result of this shape; what fits together was checked before.
 */
export function convolveRounded(
  input: Tensor,
  weight: Tensor,
  rounded: RoundedWeight,
  bias: Tensor | null,
  settings: ConvSettings,
  shape: readonly number[],
  clamp: Clamp | null,
  post: PostFields | null,
): Tensor {
  const { n, k, format, group, bytes, address } = rounded
  const x = contiguousOf(input)
  const added = bias === null ? null : contiguousOf(bias)
  const batch = shape[0]!
  // images of a single pixel are rows, which share what is read of the weight
  const areRows = post === null && x.numel === batch * k && shape[1] === n && settings.padding.every((size) => size === 0)
  if (areRows && weight.numel === n * k) return roundedLinear(viewOf(x, [batch, k], [k, 1]), rounded, added, clamp, null, shape)
  const result = empty(shape, DType.float32)
  if (result.numel === 0) return result
  const {
    batch: images,
    in_channels,
    out_channels,
    in: sizes,
    kernel,
    stride,
    padding,
    dilation,
    out,
  } = geometry(x, weight, result, settings)
  kernels.packed_conv(
    {
      ...{ format, batch: images, in_channels, out_channels, group, bytes: Number(bytes), ...clampFields(clamp) },
      ...{ in: sizes, kernel, stride, padding, dilation, out },
      input: x.address,
      weight: address,
      bias: added === null ? 0 : added.address,
      output: result.address,
    },
    post,
  )
  return result
}
