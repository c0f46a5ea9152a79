import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { add_out } from './binary.js'
import { bmm } from './matmul.js'
import { contiguousOf } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import type { CPU } from '../support/generated/interfaces.js'

type Pair = readonly [number, number]

function outputSize(size: number, kernel: number, stride: number, padding: number, dilation: number): number {
  return Math.floor((size + 2 * padding - (dilation * (kernel - 1) + 1)) / stride) + 1
}

function checkShape(name: string, t: Tensor, wanted: readonly number[]): void {
  check(
    t.dim === wanted.length && wanted.every((size, d) => t.shape[d] === size),
    () => `deform_conv2d: expected ${name} of shape [${wanted.join(', ')}], found [${t.shape.join(', ')}]`,
  )
}

/**
 * torchvision.ops.deform_conv2d: a convolution of [N, C, H, W] whose samples are moved by `offset`
 * [N, 2 * offsetGroups * kernel, outH, outW], y before x, and with `useMask` multiplied by `mask` [N, offsetGroups * kernel, outH, outW].
 */
export const deform_conv2d: CPU['deform_conv2d'] = (
  input,
  weight,
  offset,
  mask,
  bias,
  strideH,
  strideW,
  padH,
  padW,
  dilationH,
  dilationW,
  groups,
  offsetGroups,
  useMask,
) => {
  const what = 'deform_conv2d'
  const type = input.type
  if (type !== DType.float32 && type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 or float64 input, found ${input.dtype}`)
  }
  for (const t of useMask ? [weight, offset, bias, mask] : [weight, offset, bias]) {
    if (t.type !== type)
      throw new PtliteError('INVALID_DTYPE', `${what}: expected tensors of one dtype, found ${input.dtype} and ${t.dtype}`)
  }
  check(input.dim === 4 && weight.dim === 4, () => `${what}: expected an input and a weight of 4 dimensions`)
  const [batch, channels, height, width] = input.shape as [number, number, number, number]
  const [outChannels, perGroup, kernelH, kernelW] = weight.shape as [number, number, number, number]
  check(kernelH > 0 && kernelW > 0, () => `${what}: expected a kernel of at least one tap`)
  check(strideH > 0 && strideW > 0 && dilationH > 0 && dilationW > 0, () => `${what}: expected strides and dilations of at least 1`)
  check(padH >= 0 && padW >= 0, () => `${what}: expected paddings of at least 0`)
  check(
    groups > 0 && outChannels % groups === 0 && perGroup * groups === channels,
    () => `${what}: ${channels} channels and a weight of shape [${weight.shape.join(', ')}] do not make ${groups} groups`,
  )
  check(offsetGroups > 0 && channels % offsetGroups === 0, () => `${what}: ${channels} channels do not make ${offsetGroups} offset groups`)
  const out: Pair = [outputSize(height, kernelH, strideH, padH, dilationH), outputSize(width, kernelW, strideW, padW, dilationW)]
  check(out[0] > 0 && out[1] > 0, () => `${what}: the output size ${out[0]} x ${out[1]} is not positive`)
  const taps = kernelH * kernelW
  checkShape('offsets', offset, [batch, 2 * offsetGroups * taps, ...out])
  if (useMask) checkShape('a mask', mask, [batch, offsetGroups * taps, ...out])
  checkShape('a bias', bias, [outChannels])
  const pixels = out[0] * out[1]
  const result = empty([batch, outChannels, ...out], type)
  if (result.numel === 0) return result
  const [x, offsets, factors] = [contiguousOf(input), contiguousOf(offset), useMask ? contiguousOf(mask) : null]
  const matrices = viewOf(
    contiguousOf(weight),
    [groups, outChannels / groups, perGroup * taps],
    [(outChannels / groups) * perGroup * taps, perGroup * taps, 1],
  )
  const columns = empty([groups, perGroup * taps, pixels], type)
  const size = x.itemSize
  for (let n = 0; n < batch; n++) {
    kernels.deform_columns({
      dtype: type,
      channels,
      groups: offsetGroups,
      in_size: [height, width],
      kernel: [kernelH, kernelW],
      stride: [strideH, strideW],
      padding: [padH, padW],
      dilation: [dilationH, dilationW],
      out,
      in: x.address + n * channels * height * width * size,
      offset: offsets.address + n * offsetGroups * taps * 2 * pixels * size,
      mask: factors === null ? 0 : factors.address + n * offsetGroups * taps * pixels * size,
      columns: columns.address,
    })
    const image = viewOf(
      result,
      [groups, outChannels / groups, pixels],
      [(outChannels / groups) * pixels, pixels, 1],
      n * outChannels * pixels,
    )
    if (columns.numel === 0) fillScalar(image, 0)
    else bmm(matrices, columns, image)
  }
  return add_out(result, viewOf(contiguousOf(bias), [outChannels, 1, 1], [1, 1, 1]), 1, result)
}
