import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { convolve, convolveTransposed } from './support/conv.js'
import { perDimension } from '../../shapes/convolution.js'
import { writeOut } from '../support/write-out.js'
import type { CPU } from '../support/generated/interfaces.js'
import { batched, convNd } from './convolution.js'

/**
 * Convolution of any kind over 1 to 3 spatial dimensions. Input [n, c, ...]; weight [out, in / groups, ...], or
 * [in, out / groups, ...] where `transposed`; lists of one element serve all dimensions.
 */
export const convolution: CPU['convolution'] = (input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups, out) => {
  const count = weight.dim - 2
  check(count >= 1 && count <= 3, () => `convolution: expected a weight with 3 to 5 dimensions, found shape [${weight.shape.join(', ')}]`)
  const settings = {
    stride: perDimension('convolution', 'stride', stride, count),
    padding: perDimension('convolution', 'padding', padding, count),
    dilation: perDimension('convolution', 'dilation', dilation, count),
    groups,
  }
  const extra = perDimension('convolution', 'output_padding', outputPadding, count)
  const result = transposed
    ? convolveTransposed('convolution', input, weight, bias, settings, extra)
    : convolve('convolution', input, weight, bias, settings)
  return writeOut(result, out)
}

/** `convolution`; the flags choose among PyTorch's backends and change nothing here. */
export const _convolution: CPU['_convolution'] = (
  input,
  weight,
  bias,
  stride,
  padding,
  dilation,
  transposed,
  outputPadding,
  groups,
  _benchmark,
  _deterministic,
  _cudnnEnabled,
  _allowTf32,
  out,
) => convolution(input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups, out)

export const _convolution_deprecated: CPU['_convolution_deprecated'] = (
  input,
  weight,
  bias,
  stride,
  padding,
  dilation,
  transposed,
  outputPadding,
  groups,
) => convolution(input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups)

/** torch.conv1d and its kin: input [n, c, ...] or [c, ...]. */
export const conv1d: CPU['conv2d'] = (input, weight, bias, stride, padding, dilation, groups) =>
  convNd(1, input, weight, bias, stride, padding, null, dilation, groups)
export const conv3d: CPU['conv2d'] = (input, weight, bias, stride, padding, dilation, groups) =>
  convNd(3, input, weight, bias, stride, padding, null, dilation, groups)

/** padding 'valid' adds nothing; 'same' what keeps the sizes at stride 1, the odd zero at the end. */
function convPadding(
  count: number,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: number[],
  padding: string,
  dilation: number[],
  groups: number,
): Tensor {
  const operator = `conv${count}d`
  check(padding === 'same' || padding === 'valid', () => `${operator}: expected padding 'same' or 'valid', found '${padding}'`)
  if (padding === 'valid') {
    const none = new Array<number>(count).fill(0)
    return convNd(count, input, weight, bias, stride, none, null, dilation, groups)
  }
  check(
    stride.every((s) => s === 1),
    () => `${operator}: padding 'same' needs strides of 1, found [${stride.join(', ')}]`,
  )
  check(
    weight.dim === count + 2,
    () => `${operator}: expected a weight with ${count + 2} dimensions, found shape [${weight.shape.join(', ')}]`,
  )
  const total = perDimension(operator, 'dilation', dilation, count).map((d, i) => d * (weight.shape[i + 2]! - 1))
  const front = total.map((t) => Math.floor(t / 2))
  const behind = total.map((t, i) => t - front[i]!)
  return convNd(count, input, weight, bias, stride, front, behind, dilation, groups)
}

export const conv1d_padding: CPU['conv2d_padding'] = (...args) => convPadding(1, ...args)
export const conv2d_padding: CPU['conv2d_padding'] = (...args) => convPadding(2, ...args)
export const conv3d_padding: CPU['conv2d_padding'] = (...args) => convPadding(3, ...args)

function transposeNd(count: number): CPU['conv_transpose2d_input'] {
  const operator = `conv_transpose${count}d`
  return (input, weight, bias, stride, padding, outputPadding, groups, dilation) => {
    const settings = {
      stride: perDimension(operator, 'stride', stride, count),
      padding: perDimension(operator, 'padding', padding, count),
      dilation: perDimension(operator, 'dilation', dilation, count),
      groups,
    }
    const extra = perDimension(operator, 'output_padding', outputPadding, count)
    return batched(operator, input, count, (x) => convolveTransposed(operator, x, weight, bias, settings, extra))
  }
}

/** torch.conv_transpose1d and its kin: input [n, c, ...] or [c, ...], weight [in, out / groups, ...]. */
export const conv_transpose1d = transposeNd(1)
export const conv_transpose2d_input = transposeNd(2)
export const conv_transpose3d_input = transposeNd(3)
