import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { empty, emptyStrided, isPerChannel, type PerChannelQuant, Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import {
  asQuantized,
  checkQuant,
  chooseQuant,
  dequantized,
  inFormat,
  integersOf,
  numbersOf,
  perChannel,
  perTensor,
  quantizePerChannel,
  quantizeChannelsLast,
  quantizePerTensor,
} from '../support/quantization.js'

function checkFloat(x: Tensor, what: string): void {
  if (x.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 tensor, found ${x.dtype}`)
}

export function quantize_per_tensor(x: Tensor, scale: number, zeroPoint: number, type: DType): Tensor {
  checkFloat(x, 'quantize_per_tensor')
  return quantizePerTensor(x, scale, zeroPoint, type)
}

export function quantize_channels_last(x: Tensor, scale: number, zeroPoint: number, type: DType): Tensor {
  checkFloat(x, 'ptlite::quantize_channels_last')
  return quantizeChannelsLast(x, scale, zeroPoint, type)
}

function single(t: Tensor, what: string): number {
  check(t.numel === 1, () => `${what}: expected one element, found ${t.numel}`)
  // read as it is, without a cast, so that a recorder sees which tensor it was
  return NUMBERS.has(t.type) ? Number(readTensor(t)[0]) : numbersOf(t)[0]!
}

const NUMBERS: ReadonlySet<DType> = new Set([DType.float32, DType.float64, DType.int32, DType.int64])

export function quantize_per_tensor_tensor_qparams(x: Tensor, scale: Tensor, zeroPoint: Tensor, type: DType): Tensor {
  return quantize_per_tensor(x, single(scale, 'scale'), single(zeroPoint, 'zero_point'), type)
}

export function quantize_per_tensor_tensors(tensors: Tensor[], scales: Tensor, zeroPoints: Tensor, type: DType): Tensor[] {
  const s = numbersOf(scales)
  const z = numbersOf(zeroPoints)
  check(s.length >= tensors.length && z.length >= tensors.length, () => `expected ${tensors.length} scales and zero points`)
  return tensors.map((t, i) => quantize_per_tensor(t, s[i]!, z[i]!, type))
}

export function quantize_per_tensor_dynamic(x: Tensor, type: DType, _reduceRange: boolean): Tensor {
  checkFloat(x, 'quantize_per_tensor_dynamic')
  if (type === DType.float16) return castTo(x, type)
  if (type !== DType.quint8 && type !== DType.qint8) throw new PtliteError('INVALID_DTYPE', 'expected quint8 or qint8')
  const source = contiguousOf(x)
  noteRead(x)
  check(x.numel > 0, () => 'quantize_per_tensor_dynamic: a tensor without elements has no range')
  const range = kernels.float_range({ n: x.numel, in: source.address })
  const quant = type === DType.quint8 ? chooseQuant(range.min, range.max, 0, 255) : chooseQuant(range.min, range.max, -128, 127)
  return quantizePerTensor(source, quant.scale, quant.zeroPoint, type)
}

function channelQuant(scales: Tensor, zeroPoints: Tensor, axis: number, shape: readonly number[], type: DType): PerChannelQuant {
  check(axis >= 0 && axis < shape.length, () => `axis ${axis} is outside a tensor of ${shape.length} dimensions`)
  const n = shape[axis]!
  check(
    scales.numel === n && zeroPoints.numel === n,
    () => `expected ${n} scales and zero points, found ${scales.numel} and ${zeroPoints.numel}`,
  )
  const floatZeroPoints = isFloating(zeroPoints.type)
  const zeros = numbersOf(zeroPoints)
  if (!floatZeroPoints) for (const z of zeros) checkQuant(1, z, type)
  return { axis, scales: numbersOf(scales), zeroPoints: zeros, ...(floatZeroPoints ? { floatZeroPoints } : {}) }
}

export function quantize_per_channel(x: Tensor, scales: Tensor, zeroPoints: Tensor, axis: number, type: DType): Tensor {
  checkFloat(x, 'quantize_per_channel')
  const quant = channelQuant(scales, zeroPoints, axis, x.shape, type)
  return quantizePerChannel(x, quant, type)
}

/** The float32 values; a tensor that is not quantized is converted. */
export function dequantize_self(t: Tensor): Tensor {
  return dequantized(t)
}

export function dequantize_tensors(tensors: Tensor[]): Tensor[] {
  return tensors.map(dequantize_self)
}

export function int_repr(t: Tensor): Tensor {
  if (t.quant === null) throw new PtliteError('INVALID_DTYPE', `int_repr: expected a quantized tensor, found ${t.dtype}`)
  const integers = integersOf(inFormat(t))
  const out = emptyStrided(t.shape, integers.strides, integers.type)
  if (out.numel > 0) kernels.mem_copy({ to: out.address, from: integers.address, bytes: out.numel * out.itemSize })
  return out
}

export function q_scale(t: Tensor): number {
  return perTensor(t, 'q_scale').scale
}

export function q_zero_point(t: Tensor): number {
  return perTensor(t, 'q_zero_point').zeroPoint
}

export function q_per_channel_axis(t: Tensor): number {
  return perChannel(t, 'q_per_channel_axis').axis
}

export function q_per_channel_scales(t: Tensor): Tensor {
  const { scales, floatZeroPoints } = perChannel(t, 'q_per_channel_scales')
  const out = empty([scales.length], floatZeroPoints ? DType.float32 : DType.float64)
  writeTensor(out, floatZeroPoints ? Float32Array.from(scales) : Float64Array.from(scales))
  return out
}

export function q_per_channel_zero_points(t: Tensor): Tensor {
  const { zeroPoints, floatZeroPoints } = perChannel(t, 'q_per_channel_zero_points')
  const out = empty([zeroPoints.length], floatZeroPoints ? DType.float32 : DType.int64)
  writeTensor(out, floatZeroPoints ? Float32Array.from(zeroPoints) : BigInt64Array.from(zeroPoints, BigInt))
  return out
}

/** at::QScheme numbers: 0 per tensor, 1 per channel, 4 per channel with float parameters. */
export function qscheme(t: Tensor): number {
  if (t.quant === null) throw new PtliteError('INVALID_DTYPE', `qscheme: expected a quantized tensor, found ${t.dtype}`)
  return !isPerChannel(t.quant) ? 0 : t.quant.floatZeroPoints ? 4 : 1
}

export function _make_per_tensor_quantized_tensor(t: Tensor, scale: number, zeroPoint: number): Tensor {
  return asQuantized(copyOf(t), { scale, zeroPoint })
}

export function _make_per_channel_quantized_tensor(t: Tensor, scales: Tensor, zeroPoints: Tensor, axis: number): Tensor {
  const target = asQuantized(copyOf(t), { scale: 1, zeroPoint: 0 })
  Tensor.retype(target, target.type, channelQuant(scales, zeroPoints, axis, t.shape, target.type))
  return target
}

function copyOf(t: Tensor): Tensor {
  const source = contiguousOf(t)
  const out = empty(t.shape, t.type)
  if (out.numel > 0) kernels.mem_copy({ to: out.address, from: source.address, bytes: out.numel * out.itemSize })
  return out
}
