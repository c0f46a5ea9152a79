import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { channelsLastStrides, sameShape } from '../../tensor/shape.js'
import { emptyStrided, type PerTensorQuant, Tensor, viewOf } from '../../tensor/tensor.js'
import type { Value } from '../../tensor/value.js'
import { checkExtent, checkRange } from '../../shapes/convolution.js'
import { contiguousOf } from '../support/copy.js'
import { checkQuant, dequantized, dynamicQuant, perTensor, quantizePerTensor, quantRange } from '../support/quantization.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'
import {
  biasNumbers,
  channelQuant,
  dequantization,
  type Epilogue,
  packDepthwise,
  packMatrix,
  type PackedWeights,
  requantization,
} from './support/gemm.js'
import { toChannelsLast } from './support/layout.js'
import { type ConvParams, convParams } from './support/params.js'

type Triple = readonly [number, number, number]

/** Spatial lists of 1 to 3 dimensions as three: depth, height, width. */
function triple(values: readonly number[], fill: number): Triple {
  return [...new Array<number>(3 - values.length).fill(fill), ...values] as unknown as Triple
}

interface Geometry {
  readonly kernel: Triple
  readonly stride: Triple
  readonly padding: Triple
  readonly dilation: Triple
  readonly inSize: Triple
  readonly outSize: Triple
  readonly inChannels: number
  readonly outChannels: number
}

function geometryOf(x: Tensor, p: ConvParams, what: string): Geometry {
  const dims = p.stride.length
  const { weight } = p
  check(x.dim === dims + 2, () => `${what}: expected an input of ${dims + 2} dimensions, found shape [${x.shape.join(', ')}]`)
  const inChannels = p.transposed ? weight.shape[0]! : weight.shape[1]! * p.groups
  const outChannels = p.transposed ? weight.shape[1]! * p.groups : weight.shape[0]!
  check(x.shape[1] === inChannels, () => `${what}: expected ${inChannels} input channels, found ${x.shape[1]}`)
  check(inChannels % p.groups === 0 && outChannels % p.groups === 0, () => `${what}: ${p.groups} groups do not divide the channels`)
  checkRange(what, 'strides', p.stride, 1)
  checkRange(what, 'dilations', p.dilation, 1)
  checkRange(what, 'paddings', p.padding, 0)
  const kernel = weight.shape.slice(2)
  const outSize = kernel.map((k, i) => {
    const size = x.shape[2 + i]!
    const reach = p.dilation[i]! * (k - 1)
    const whole = p.transposed ? (size - 1) * p.stride[i]! + reach + p.outputPadding[i]! + 1 : size + 2 * p.padding[i]!
    checkExtent(what, whole)
    return p.transposed ? whole - 2 * p.padding[i]! : Math.floor((whole - reach - 1) / p.stride[i]!) + 1
  })
  check(
    outSize.every((s) => s > 0),
    () => `${what}: an input of [${x.shape.slice(2).join(', ')}] is too small for this kernel`,
  )
  return {
    kernel: triple(kernel, 1),
    stride: triple(p.stride, 1),
    padding: triple(p.padding, 0),
    dilation: triple(p.dilation, 1),
    inSize: triple(x.shape.slice(2), 1),
    outSize: triple(outSize, 1),
    inChannels,
    outChannels,
  }
}

const geometries = new WeakMap<ConvParams, { readonly shape: readonly number[]; readonly g: Geometry }>()

/** The geometry of the last call, where the input has the same shape. */
function keptGeometry(x: Tensor, p: ConvParams, what: string): Geometry {
  const last = geometries.get(p)
  if (last !== undefined && sameShape(last.shape, x.shape)) return last.g
  const g = geometryOf(x, p, what)
  geometries.set(p, { shape: x.shape.slice(), g })
  return g
}

function isDepthwise(p: ConvParams, g: Geometry): boolean {
  return !p.transposed && p.groups === g.inChannels && g.outChannels === g.inChannels && p.groups > 1
}

/** Packs the weights once per module: one matrix per group, [out channels][taps][in channels]. */
function packedConv(p: ConvParams, g: Geometry): PackedWeights[] {
  if (p.packed !== undefined) return p.packed
  const axis = p.transposed ? 1 : 0
  const groupOut = g.outChannels / p.groups
  const perGroup = p.transposed && p.weight.quant !== null && 'axis' in p.weight.quant
  check(!perGroup || p.groups === 1, () => 'transposed convolutions with groups need per-tensor weights')
  const { scales, zeroPoints } = channelQuant(p.weight, axis)
  const scaleOf = (i: number): number => scales[p.transposed ? i % groupOut : i]!
  const zeroOf = (i: number): number => zeroPoints[p.transposed ? i % groupOut : i]!
  const bias = biasNumbers(p.bias, g.outChannels)
  const taps = g.kernel[0] * g.kernel[1] * g.kernel[2]
  const all = Array.from({ length: g.outChannels }, (_, i) => i)
  if (isDepthwise(p, g)) {
    p.packed = [packDepthwise(p.weight, g.outChannels, taps, all.map(scaleOf), all.map(zeroOf), bias)]
    return p.packed
  }
  p.packed = Array.from({ length: p.groups }, (_, group) => {
    const rows = all.slice(group * groupOut, (group + 1) * groupOut)
    const matrix = groupMatrix(p, group, g)
    const depth = taps * (g.inChannels / p.groups)
    return packMatrix(matrix, groupOut, depth, rows.map(scaleOf), rows.map(zeroOf), bias === null ? null : rows.map((i) => bias[i]!))
  })
  return p.packed
}

/** The parameters of a view whose own are handed over beside it. */
const APART: PerTensorQuant = { scale: 1, zeroPoint: 0 }

/** The integers of one group's weights with dimensions [out, taps..., in], as a view. */
function groupMatrix(p: ConvParams, group: number, g: Geometry): Tensor {
  const { shape, strides } = p.weight
  const [outAxis, inAxis] = p.transposed ? [1, 0] : [0, 1]
  const groupIn = g.inChannels / p.groups
  const groupOut = g.outChannels / p.groups
  const offset = p.weight.offset + group * (p.transposed ? groupIn * strides[0]! : groupOut * strides[0]!)
  const rest = shape.map((_, i) => i).slice(2)
  const sizes = [groupOut, ...rest.map((i) => shape[i]!), groupIn]
  const steps = [strides[outAxis]!, ...rest.map((i) => strides[i]!), strides[inAxis]!]
  return new Tensor(p.weight.storage, offset, sizes, steps, p.weight.type, APART)
}

/** Integers that a result is clamped to. */
interface IntegerBounds {
  readonly min: number
  readonly max: number
}

/** `passing`: the parameters come from the data. */
function convolution(
  x: Tensor,
  weights: Value,
  scale: number,
  zeroPoint: number,
  bounds: IntegerBounds | null,
  what: string,
  passing = false,
): Tensor {
  const p = convParams(weights)
  const quant = perTensor(x, what)
  const g = keptGeometry(x, p, what)
  const packed = packedConv(p, g)
  const output = checkQuant(scale, zeroPoint, x.type)
  const shape = [x.shape[0]!, g.outChannels, ...triplePart(g.outSize, p.stride.length)]
  const out = emptyStrided(shape, channelsLastStrides(shape), x.type, output)
  if (out.numel === 0) return out
  const source = toChannelsLast(x)
  const [least, most] = quantRange(x.type)
  const min = Math.max(least, bounds?.min ?? least)
  const run: Run = { g, source, aZero: quant.zeroPoint, out, outZero: zeroPoint, min, max: Math.min(most, bounds?.max ?? most) }
  if (isDepthwise(p, g)) launchDepthwise(run, packed[0]!, requantization(packed[0]!, quant, output, passing))
  else packed.forEach((group, i) => launchGroup(run, p, group, i, requantization(group, quant, output, passing)))
  return out
}

/** The float32 sums of a convolution on integers that is not depthwise. */
export function quantized_convolution(x: Tensor, weights: Value): Tensor {
  const what = 'ptlite::quantized_convolution'
  const p = convParams(weights)
  const isRow = x.dim === 3 && p.stride.length === 2
  const image = isRow ? withHeight(x) : x
  const quant = perTensor(image, what)
  const g = keptGeometry(image, p, what)
  check(!isDepthwise(p, g), () => `${what}: a depthwise convolution has no float32 result`)
  const shape = [image.shape[0]!, g.outChannels, ...triplePart(g.outSize, p.stride.length)]
  const out = emptyStrided(shape, channelsLastStrides(shape), DType.float32)
  if (out.numel > 0) {
    const run: Run = { g, source: toChannelsLast(image), aZero: quant.zeroPoint, out, outZero: 0, min: 0, max: 0 }
    packedConv(p, g).forEach((group, i) => launchGroup(run, p, group, i, dequantization(group, quant.scale)))
  }
  return isRow ? withoutHeight(out) : out
}

/** What all groups of one call share. */
interface Run {
  readonly g: Geometry
  readonly source: Tensor
  readonly aZero: number
  readonly out: Tensor
  readonly outZero: number
  readonly min: number
  readonly max: number
}

// frames are written out in full: an object spread of this many fields takes longer than a small product

function launchDepthwise(run: Run, packed: PackedWeights, e: Epilogue): void {
  const { g, source, out } = run
  kernels.quantized_depthwise({
    batch: source.shape[0]!,
    channels: g.inChannels,
    a: source.address,
    a_dtype: source.type,
    a_zero: run.aZero,
    w: packed.storage.address,
    scales: e.scales.address,
    bias: e.bias.address,
    out: out.address,
    out_zero: run.outZero,
    min: run.min,
    max: run.max,
    in_size: g.inSize,
    out_size: g.outSize,
    kernel: g.kernel,
    stride: g.stride,
    padding: g.padding,
    dilation: g.dilation,
  })
}

function launchGroup(run: Run, p: ConvParams, packed: PackedWeights, group: number, e: Epilogue): void {
  const { g, source, out } = run
  const groupIn = g.inChannels / p.groups
  const pixels = source.shape[0]! * g.outSize[0] * g.outSize[1] * g.outSize[2]
  const pointwise = !p.transposed && packed.depth === groupIn && [0, 1, 2].every((i) => g.stride[i] === 1 && g.padding[i] === 0)
  kernels.quantized_gemm({
    m: pixels,
    n: packed.rows,
    k: packed.depth,
    a: source.address + group * groupIn,
    a_dtype: source.type,
    a_zero: run.aZero,
    a_stride: g.inChannels,
    w: packed.storage.address,
    scales: e.scales.address,
    bias: e.bias.address,
    out: out.address + group * packed.rows * out.itemSize,
    out_dtype: out.type,
    out_zero: run.outZero,
    out_stride: g.outChannels,
    min: run.min,
    max: run.max,
    relu: 0,
    taps: pointwise ? 0 : packed.depth / groupIn,
    transposed: p.transposed ? 1 : 0,
    channels: groupIn,
    pixel_stride: g.inChannels,
    in_size: g.inSize,
    out_size: g.outSize,
    kernel: g.kernel,
    stride: g.stride,
    padding: g.padding,
    dilation: g.dilation,
  })
}

function triplePart(sizes: Triple, dims: number): number[] {
  return sizes.slice(3 - dims)
}

/** conv1d runs as a 2-d convolution of height 1, which is also how its parameters are stored. */
function withHeight(x: Tensor): Tensor {
  check(x.dim === 3, () => `expected an input of 3 dimensions, found shape [${x.shape.join(', ')}]`)
  return viewOf(x, [x.shape[0]!, x.shape[1]!, 1, x.shape[2]!], [x.strides[0]!, x.strides[1]!, 0, x.strides[2]!])
}

function withoutHeight(x: Tensor): Tensor {
  return viewOf(x, [x.shape[0]!, x.shape[1]!, x.shape[3]!], [x.strides[0]!, x.strides[1]!, x.strides[3]!])
}

type Conv = QuantizedCPU['conv2d_new']

/** What a relu leaves of the integers. */
function boundsOf(relu: boolean, zeroPoint: number): IntegerBounds | null {
  return relu ? { min: zeroPoint, max: Infinity } : null
}

/** Of rows as of images of height 1. */
function rows(name: string, relu = false): Conv {
  return (x, weights, scale, zeroPoint) =>
    withoutHeight(convolution(withHeight(x), weights, scale, zeroPoint, boundsOf(relu, zeroPoint), name))
}

/** Of images and volumes: the weights say which. */
function conv(name: string, relu = false): Conv {
  return (x, weights, scale, zeroPoint) => convolution(x, weights, scale, zeroPoint, boundsOf(relu, zeroPoint), name)
}

/** A convolution of images whose integers are clamped; with `min` and `max` the dtype's bounds it is quantized::conv2d.new. */
export const clamped_convolution: QuantizedCPU['clamped_convolution'] = (x, weights, scale, zeroPoint, min, max) => {
  const what = 'ptlite::clamped_convolution'
  check(min <= max, () => `${what}: ${min} is greater than ${max}`)
  return convolution(x, weights, scale, zeroPoint, { min, max }, what)
}

/** The old form repeats geometry that the packed parameters hold; PyTorch ignores it too. */
function old(run: Conv): QuantizedCPU['conv2d'] {
  return (x, weights, _stride, _padding, _dilation, _groups, scale, zeroPoint) => run(x, weights, scale, zeroPoint)
}

export const conv1d = rows('quantized::conv1d')
export const conv1d_relu = rows('quantized::conv1d_relu', true)
export const conv2d_new = conv('quantized::conv2d')
export const conv2d_relu_new = conv('quantized::conv2d_relu', true)
export const conv2d = old(conv2d_new)
export const conv2d_relu = old(conv2d_relu_new)
export const conv3d_new = conv('quantized::conv3d')
export const conv3d_relu_new = conv('quantized::conv3d_relu', true)
export const conv3d = old(conv3d_new)
export const conv3d_relu = old(conv3d_relu_new)
export const conv_transpose1d = rows('quantized::conv_transpose1d')
export const conv_transpose2d = conv('quantized::conv_transpose2d')
export const conv_transpose3d = conv('quantized::conv_transpose3d')

/**
 * float32 input quantized by its own range. PyTorch's engines give the integer result the parameters of the input, so
 * it saturates there, before it becomes float32.
 */
function dynamicConvolution(x: Tensor, weights: Value, what: string): Tensor {
  if (x.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 input, found ${x.dtype}`)
  const source = contiguousOf(x)
  const { scale, zeroPoint } = dynamicQuant(source)
  return dequantized(convolution(quantizePerTensor(source, scale, zeroPoint, DType.quint8), weights, scale, zeroPoint, null, what, true))
}

/** Take `reduce_range` for the schema's sake: QNNPACK uses all 8 bits in any case. */
function dynamicConv(name: string, oneDimensional = false): QuantizedCPU['conv2d_dynamic'] {
  return (x, weights) =>
    oneDimensional ? withoutHeight(dynamicConvolution(withHeight(x), weights, name)) : dynamicConvolution(x, weights, name)
}

export const conv1d_dynamic = dynamicConv('quantized::conv1d_dynamic', true)
export const conv2d_dynamic = dynamicConv('quantized::conv2d_dynamic')
export const conv3d_dynamic = dynamicConv('quantized::conv3d_dynamic')
export const conv_transpose1d_dynamic = dynamicConv('quantized::conv_transpose1d_dynamic', true)
export const conv_transpose2d_dynamic = dynamicConv('quantized::conv_transpose2d_dynamic')
export const conv_transpose3d_dynamic = dynamicConv('quantized::conv_transpose3d_dynamic')
