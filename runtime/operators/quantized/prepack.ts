import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { type CustomObject, Tuple, type Value } from '../../tensor/value.js'
import { clamp_out } from '../cpu/clamp.js'
import { castTo } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'
import { CONV2D_CLASS, CONV3D_CLASS, type ConvParams, convParams, linearParams, makeConv, makeLinear } from './support/params.js'

/** The greatest number of float16. */
const HALF_MAX = 65504

/** Packing only checks and keeps the weights: kernels lay them out at their first use. */

export function linear_prepack(weight: Tensor, bias: Tensor | null): CustomObject {
  check(
    weight.dim === 2 && weight.isQuantized,
    () => `linear_prepack: expected a quantized matrix, found ${weight.dtype}[${weight.shape.join(', ')}]`,
  )
  checkBias(bias, weight.shape[0]!)
  return makeLinear(weight, bias)
}

export function linear_prepack_fp16(weight: Tensor, bias: Tensor | null): CustomObject {
  check(weight.dim === 2, () => `linear_prepack_fp16: expected a matrix, found shape [${weight.shape.join(', ')}]`)
  checkBias(bias, weight.shape[0]!)
  // weights are kept in half precision, i.e. rounded to it, those out of its range as the ends of it
  const inRange = clamp_out(weight, new Float(-HALF_MAX), new Float(HALF_MAX))
  return makeLinear(castTo(castTo(inRange, DType.float16), DType.float32), bias)
}

/** A layer without bias gives zeros, which is what QNNPACK packs for it. */
function biasOrZeros(bias: Tensor | null, n: number): Tensor {
  if (bias !== null) return bias
  const zeros = empty([n], DType.float32)
  fillScalar(zeros, 0)
  return zeros
}

export function linear_unpack(weights: Value): [Tensor, Tensor] {
  const { weight, bias } = linearParams(weights)
  return [weight, biasOrZeros(bias, weight.shape[0]!)]
}

/** Half-precision layers are FBGEMM's, which keeps a missing bias missing. */
export function linear_unpack_fp16(weights: Value): [Tensor, Tensor | null] {
  const { weight, bias } = linearParams(weights)
  return [weight, bias]
}

function checkBias(bias: Tensor | null, n: number): void {
  check(
    bias === null || (bias.dim === 1 && bias.shape[0] === n),
    () => `expected a bias of ${n} elements, found [${bias!.shape.join(', ')}]`,
  )
}

function conv(
  className: string,
  weight: Tensor,
  bias: Tensor | null,
  lists: Pick<ConvParams, 'stride' | 'padding' | 'dilation' | 'outputPadding'>,
  groups: number,
  transposed: boolean,
): CustomObject {
  const dims = weight.dim - 2
  check(weight.isQuantized, () => `expected a quantized weight, found ${weight.dtype}`)
  for (const list of Object.values(lists)) {
    check(list.length === dims, () => `expected ${dims} values for stride, padding and dilation, found ${list.length}`)
  }
  check(groups >= 1 && Number.isInteger(groups), () => `expected at least one group, found ${groups}`)
  check(lists.stride.every((s) => s > 0) && lists.dilation.every((d) => d > 0), () => 'strides and dilations must be positive')
  check(
    lists.padding.every((p) => p >= 0),
    () => 'padding must not be negative',
  )
  checkBias(bias, transposed ? weight.shape[1]! * groups : weight.shape[0]!)
  return makeConv(className, { weight, bias, ...lists, groups, transposed })
}

/** A weight of one spatial dimension with a height of 1 before it. */
function withHeight(weight: Tensor): Tensor {
  check(weight.dim === 3, () => `expected a weight of 3 dimensions, found shape [${weight.shape.join(', ')}]`)
  const { shape, strides } = weight
  return viewOf(weight, [shape[0]!, shape[1]!, 1, shape[2]!], [strides[0]!, strides[1]!, shape[2]! * strides[2]!, strides[2]!])
}

export const conv1d_prepack: QuantizedCPU['conv1d_prepack'] = (weight, bias, stride, padding, dilation, groups) => {
  const lists = { stride: [1, ...stride], padding: [0, ...padding], dilation: [1, ...dilation], outputPadding: [0, 0] }
  return conv(CONV2D_CLASS, withHeight(weight), bias, lists, groups, false)
}

function plain(className: string): QuantizedCPU['conv2d_prepack'] {
  return (weight, bias, stride, padding, dilation, groups) =>
    conv(className, weight, bias, { stride, padding, dilation, outputPadding: stride.map(() => 0) }, groups, false)
}

export const conv2d_prepack = plain(CONV2D_CLASS)
export const conv_prepack = conv2d_prepack
export const conv3d_prepack = plain(CONV3D_CLASS)

type Transposed = QuantizedCPU['conv_transpose2d_prepack']

export const conv_transpose1d_prepack: Transposed = (weight, bias, stride, padding, outputPadding, dilation, groups) => {
  const lists = { stride: [1, ...stride], padding: [0, ...padding], dilation: [1, ...dilation], outputPadding: [0, ...outputPadding] }
  return conv(CONV2D_CLASS, withHeight(weight), bias, lists, groups, true)
}

function transposed(className: string): Transposed {
  return (weight, bias, stride, padding, outputPadding, dilation, groups) =>
    conv(className, weight, bias, { stride, padding, dilation, outputPadding }, groups, true)
}

export const conv_transpose2d_prepack = transposed(CONV2D_CLASS)
export const conv_transpose3d_prepack = transposed(CONV3D_CLASS)

function convBias(p: ConvParams): Tensor {
  return biasOrZeros(p.bias, p.transposed ? p.weight.shape[1]! * p.groups : p.weight.shape[0]!)
}

export function conv2d_unpack(weights: Value): [Tensor, Tensor] {
  const params = convParams(weights)
  return [params.weight, convBias(params)]
}

/** Sizes of weight and bias, stride, padding, dilation and groups. */
export function conv2d_unpack_sizes(weights: Value): Tuple {
  const p = convParams(weights)
  const lists = [p.weight.shape, p.bias?.shape ?? null, p.stride, p.padding, p.dilation]
  return new Tuple([...lists.map((list) => (list === null ? null : [...list])), p.groups])
}

export const conv3d_unpack = conv2d_unpack

/** conv1d weights lose the height that packing added. */
export function conv1d_unpack(weights: Value): [Tensor, Tensor] {
  const params = convParams(weights)
  const { shape, strides } = params.weight
  return [viewOf(params.weight, [shape[0]!, shape[1]!, shape[3]!], [strides[0]!, strides[1]!, strides[3]!]), convBias(params)]
}

export function conv_stride(weights: Value): number[] {
  return [...convParams(weights).stride]
}

export function conv_padding(weights: Value): number[] {
  return [...convParams(weights).padding]
}

export function conv_output_padding(weights: Value): number[] {
  return [...convParams(weights).outputPadding]
}

export function conv_dilation(weights: Value): number[] {
  return [...convParams(weights).dilation]
}

export function conv_groups(weights: Value): number {
  return convParams(weights).groups
}

export function conv_transpose(weights: Value): number {
  return convParams(weights).transposed ? 1 : 0
}
