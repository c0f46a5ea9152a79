import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import type { Scalar } from '../../tensor/scalar.js'
import { empty, emptyStrided, type PerTensorQuant, type Tensor } from '../../tensor/tensor.js'
import { gelu_out } from '../cpu/activation.js'
import { contiguousOf, copyInto } from '../support/copy.js'
import { checkQuant, isDense, mapElements, perTensor, quantizeNumber } from '../support/quantization.js'
import { numberOf } from './support/params.js'
import { adopt } from './support/adopt.js'
import { throughFloat } from './support/through-float.js'

/** Functions of one 8-bit element go through a table of all 256 values. */

function sigmoidOf(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

function hardswishOf(x: number): number {
  return (x * Math.min(Math.max(x + 3, 0), 6)) / 6
}

function sameParameters(t: Tensor): PerTensorQuant {
  return perTensor(t, 'this operator')
}

function inPlace(self: Tensor, result: Tensor): Tensor {
  copyInto(self, result)
  return self
}

/** Scale and zero point of a function from 0 to 1, as PyTorch fixes them for sigmoid; `span` 2 is for -1 to 1. */
function fixedRange(t: Tensor, span: 1 | 2): PerTensorQuant {
  if (t.type === DType.qint32) return { scale: span / 2 ** 32, zeroPoint: 0 }
  return { scale: span / 256, zeroPoint: (t.type === DType.qint8 ? -128 : 0) + (span === 2 ? 128 : 0) }
}

/** The bytes that `table`, 256 bytes, has for those of `t`, which is dense and whose order of dimensions `stride` describes as well. */
export function quantized_table(t: Tensor, table: Tensor, stride: number[], scale: number, zeroPoint: number, type: DType): Tensor {
  perTensor(t, 'ptlite::quantized_table')
  const quant = checkQuant(scale, zeroPoint, type)
  const isTable = table.type === DType.uint8 && table.numel === 256 && table.isContiguous
  check(isTable && t.itemSize === 1 && type !== DType.qint32, () => 'expected a table of 256 bytes for 8-bit integers')
  const isSame = stride.length === t.dim && stride.every((step, d) => t.shape[d] === 1 || step === t.strides[d])
  check(isSame && isDense(t), () => `expected a dense tensor of strides [${stride.join(', ')}], found [${t.strides.join(', ')}]`)
  const out = emptyStrided(t.shape, stride, type, quant)
  kernels.quantized_table({ n: t.numel, table: table.address, in: t.address, out: out.address })
  return out
}

function finish(result: Tensor, out: Tensor | undefined): Tensor {
  return out === undefined ? result : adopt(out, result)
}

export function quantized_relu_out(t: Tensor, out?: Tensor): Tensor {
  return finish(
    mapElements(t, sameParameters(t), (x) => Math.max(x, 0)),
    out,
  )
}

export function relu6(t: Tensor, inplace: boolean): Tensor {
  const result = mapElements(t, sameParameters(t), (x) => Math.min(Math.max(x, 0), 6))
  return inplace ? inPlace(t, result) : result
}

/** Between two bounds, of which one may be missing. */
export function quantized_clamp(t: Tensor, min: Scalar | null, max: Scalar | null): Tensor {
  check(min !== null || max !== null, () => 'clamp: expected at least one bound')
  const [low, high] = [min === null ? -Infinity : numberOf(min), max === null ? Infinity : numberOf(max)]
  return mapElements(t, sameParameters(t), (x) => Math.min(Math.max(x, low), high))
}

export function quantized_clamp_out(t: Tensor, min: Scalar | null, max: Scalar | null, out?: Tensor): Tensor {
  return finish(quantized_clamp(t, min, max), out)
}

export function quantized_hardtanh_out(t: Tensor, min: Scalar, max: Scalar, out?: Tensor): Tensor {
  return finish(quantized_clamp(t, min, max), out)
}

export function threshold(t: Tensor, limit: Scalar, value: Scalar): Tensor {
  const bound = Math.fround(numberOf(limit))
  const replacement = numberOf(value)
  return mapElements(t, sameParameters(t), (x) => (x > bound ? x : replacement))
}

export function quantized_threshold_out(t: Tensor, limit: Scalar, value: Scalar, out?: Tensor): Tensor {
  return finish(threshold(t, limit, value), out)
}

export function quantized_sigmoid_out(t: Tensor, out?: Tensor): Tensor {
  return finish(mapElements(t, fixedRange(t, 1), sigmoidOf), out)
}

export function sigmoid(t: Tensor, scale: number, zeroPoint: number): Tensor {
  return mapElements(t, { scale, zeroPoint }, sigmoidOf)
}

export function quantized_hardsigmoid_out(t: Tensor, out?: Tensor): Tensor {
  return finish(
    mapElements(t, fixedRange(t, 1), (x) => Math.min(Math.max(x + 3, 0), 6) / 6),
    out,
  )
}

export function quantized_tanh_out(t: Tensor, out?: Tensor): Tensor {
  return finish(mapElements(t, fixedRange(t, 2), Math.tanh), out)
}

export function quantized_hardswish_out(t: Tensor, out?: Tensor): Tensor {
  return finish(mapElements(t, sameParameters(t), hardswishOf), out)
}

export function hardswish(t: Tensor, scale: number, zeroPoint: number): Tensor {
  return mapElements(t, { scale, zeroPoint }, hardswishOf)
}

/** Always a new tensor, whatever `inplace` says: its parameters are others. */
export function leaky_relu(t: Tensor, slope: Scalar, _inplace: boolean, scale: number, zeroPoint: number): Tensor {
  const factor = numberOf(slope)
  return mapElements(t, { scale, zeroPoint }, (x) => (x > 0 ? x : x * factor))
}

export function quantized_leaky_relu_out(t: Tensor, slope: Scalar, out?: Tensor): Tensor {
  const { scale, zeroPoint } = sameParameters(t)
  return finish(leaky_relu(t, slope, false, scale, zeroPoint), out)
}

export function elu(t: Tensor, scale: number, zeroPoint: number, alpha: Scalar, outer: Scalar, inner: Scalar): Tensor {
  const [a, s, i] = [numberOf(alpha), numberOf(outer), numberOf(inner)]
  return mapElements(t, { scale, zeroPoint }, (x) => (x <= 0 ? Math.expm1(x * i) * a * s : x * s))
}

export function quantized_elu_out(t: Tensor, alpha: Scalar, outer: Scalar, inner: Scalar, out?: Tensor): Tensor {
  const { scale, zeroPoint } = sameParameters(t)
  return finish(elu(t, scale, zeroPoint, alpha, outer, inner), out)
}

export function celu(t: Tensor, scale: number, zeroPoint: number, alpha: Scalar): Tensor {
  const a = numberOf(alpha)
  return mapElements(t, { scale, zeroPoint }, (x) => (x <= 0 ? Math.expm1(x / a) * a : x))
}

/** The identity: PyTorch's own ignores the parameters given for the result, and in training too drops nothing. */
export function dropout(t: Tensor, _scale: number, _zeroPoint: number, _p: Scalar, _training: boolean): Tensor {
  return t
}

/** 'none' is exact, 'tanh' the approximation; through float32 in PyTorch too. */
export function quantized_gelu_out(t: Tensor, approximate: string, out?: Tensor): Tensor {
  return throughFloat(t, (x) => gelu_out(x, approximate), out)
}

/** A slope per channel, or one for all, quantized too; the result takes the parameters of `t`. */
export function quantized_prelu(t: Tensor, weight: Tensor): Tensor {
  const { scale, zeroPoint } = sameParameters(t)
  return prelu(t, weight, scale, zeroPoint)
}

/**
 * On integers: what is above zero is multiplied by 1, below by the slope, both as `weight` is quantized, so that 1 may be
 * saturated (at::native::prelu_quantized).
 */
export function prelu(t: Tensor, weight: Tensor, scale: number, zeroPoint: number): Tensor {
  const quant = perTensor(t, 'prelu')
  const slope = perTensor(weight, 'prelu: weight')
  check(
    t.type === weight.type && t.type !== DType.qint32,
    () => `prelu: expected tensors of one 8-bit dtype, found ${t.dtype} and ${weight.dtype}`,
  )
  const channels = t.dim > 1 ? t.shape[1]! : 1
  check(weight.numel === 1 || weight.numel === channels, () => `prelu: expected 1 or ${channels} slopes, found ${weight.numel}`)
  const out = empty(t.shape, t.type, { scale, zeroPoint })
  if (out.numel === 0) return out
  const x = contiguousOf(t)
  const w = contiguousOf(weight)
  const outer = t.dim > 1 ? t.shape[0]! : 1
  kernels.quantized_prelu({
    dtype: t.type,
    outer,
    channels,
    inner: t.numel / (outer * channels),
    zero_point: quant.zeroPoint,
    weight_step: weight.numel === 1 ? 0 : 1,
    weight_zero: slope.zeroPoint,
    one: quantizeNumber(1, slope, weight.type) - slope.zeroPoint,
    out_zero: zeroPoint,
    multiplier: Math.fround((Math.fround(quant.scale) * Math.fround(slope.scale)) / Math.fround(scale)),
    in: x.address,
    weight: w.address,
    out: out.address,
  })
  return out
}
