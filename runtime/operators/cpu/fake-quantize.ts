import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { roundHalfEven } from '../../tensor/half.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousCopy, contiguousOf, laidOutLike } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import { filledWith } from './support/host-tensor.js'
import { numbersOf } from '../support/quantization.js'
import type { CPU } from '../support/generated/interfaces.js'

/** Values as a quantized tensor would hold them: dequantize(quantize(x)), with a mask of what was not saturated. */

export interface Bounds {
  readonly min: number
  readonly max: number
}

function checkBounds({ min, max }: Bounds): void {
  check(min <= max, () => `fake_quantize: expected quant_min up to quant_max, found ${min} and ${max}`)
}

function checkArguments(x: Tensor, zeroPoints: readonly number[], { min, max }: Bounds): void {
  checkBounds({ min, max })
  for (const z of zeroPoints)
    check(z >= min && z <= max, () => `fake_quantize: expected a zero point between ${min} and ${max}, found ${z}`)
}

/** One scale and zero point for each index of dimension `axis`; for the whole tensor where that is -1. */
function run(x: Tensor, scales: readonly number[], zeroPoints: readonly number[], axis: number, { min, max }: Bounds): [Tensor, Tensor] {
  if (!isFloating(x.type)) throw new PtliteError('INVALID_DTYPE', `fake_quantize: expected a floating point tensor, found ${x.dtype}`)
  const source = contiguousOf(castTo(x, DType.float32))
  const out = empty(x.shape, DType.float32)
  const mask = empty(x.shape, DType.bool)
  const outer = axis < 0 ? 1 : x.shape.slice(0, axis).reduce((a, b) => a * b, 1)
  if (out.numel > 0) {
    kernels.fake_quantize({
      outer,
      channels: scales.length,
      inner: x.numel / (outer * scales.length),
      min,
      max,
      scales: filledWith(Float32Array.from(scales)).address,
      zeros: filledWith(Float32Array.from(zeroPoints)).address,
      in: source.address,
      out: out.address,
      mask: mask.address,
    })
  }
  return [laidOutLike(castTo(out, x.type), x), laidOutLike(mask, x)]
}

/** at::fake_quantize_per_tensor_affine with the mask of gradients. */
export const fake_quantize_per_tensor_affine_cachemask: CPU['fake_quantize_per_tensor_affine_cachemask'] = (
  x,
  scale,
  zeroPoint,
  min,
  max,
) => {
  checkArguments(x, [zeroPoint], { min, max })
  return run(x, [scale], [zeroPoint], -1, { min, max })
}

export function fake_quantize_per_tensor_affine(x: Tensor, scale: number, zeroPoint: number, min: number, max: number): Tensor {
  return fake_quantize_per_tensor_affine_cachemask(x, scale, zeroPoint, min, max)[0]
}

function single(t: Tensor, what: string): number {
  check(t.numel === 1, () => `${what}: expected one element, found ${t.numel}`)
  return numbersOf(t)[0]!
}

export const fake_quantize_per_tensor_affine_tensor_qparams: CPU['fake_quantize_per_tensor_affine_tensor_qparams'] = (
  x,
  scale,
  zeroPoint,
  min,
  max,
) => fake_quantize_per_tensor_affine(x, single(scale, 'scale'), single(zeroPoint, 'zero_point'), min, max)

/** Unlike other forms this one takes zero points outside of the bounds, cut to integers; where not `enabled`, a copy. */
export const _fake_quantize_per_tensor_affine_cachemask_tensor_qparams: CPU['_fake_quantize_per_tensor_affine_cachemask_tensor_qparams'] = (
  x,
  scale,
  zeroPoint,
  enabled,
  min,
  max,
) => {
  checkBounds({ min, max })
  if (Math.trunc(single(enabled, 'fake_quant_enabled')) === 0) return unchanged(x)
  return run(x, [single(scale, 'scale')], [Math.trunc(single(zeroPoint, 'zero_point'))], -1, { min, max })
}

/** A copy of which nothing is said to be saturated. */
export function unchanged(x: Tensor): [Tensor, Tensor] {
  const mask = empty(x.shape, DType.bool)
  fillScalar(mask, true)
  return [contiguousCopy(x), mask]
}

/** A scale and a zero point for each index of dimension `axis`. */
export const fake_quantize_per_channel_affine_cachemask: CPU['fake_quantize_per_channel_affine_cachemask'] = (
  x,
  scale,
  zeroPoint,
  axis,
  min,
  max,
) => {
  check(axis >= 0 && axis < x.dim, () => `fake_quantize: expected an axis below ${x.dim}, found ${axis}`)
  checkChannels(x, scale, zeroPoint, axis)
  const good = isFloating(zeroPoint.type) || zeroPoint.type === DType.int32
  if (!good) throw new PtliteError('INVALID_DTYPE', `fake_quantize: expected int32 or floating point zero points, found ${zeroPoint.dtype}`)
  const zeros = numbersOf(zeroPoint)
  checkArguments(x, isFloating(zeroPoint.type) ? [] : zeros, { min, max })
  return run(x, numbersOf(scale), zeros, axis, { min, max })
}

function checkChannels(x: Tensor, scale: Tensor, zeroPoint: Tensor, axis: number): void {
  const channels = x.shape[axis]!
  check(
    scale.numel === channels && zeroPoint.numel === channels,
    () => `fake_quantize: expected ${channels} scales and zero points, found ${scale.numel} and ${zeroPoint.numel}`,
  )
}

export const fake_quantize_per_channel_affine: CPU['fake_quantize_per_channel_affine'] = (x, scale, zeroPoint, axis, min, max) =>
  fake_quantize_per_channel_affine_cachemask(x, scale, zeroPoint, axis, min, max)[0]

/** A learned zero point as an integer between the bounds. */
function nudged(zeroPoint: number, { min, max }: Bounds): number {
  return Math.min(Math.max(roundHalfEven(Math.fround(zeroPoint)), min), max)
}

/** at::_fake_quantize_learnable_per_tensor_affine; the factor is for gradients. */
export const _fake_quantize_learnable_per_tensor_affine: CPU['_fake_quantize_learnable_per_tensor_affine'] = (
  x,
  scale,
  zeroPoint,
  min,
  max,
) => {
  check(scale.dim > 0 && zeroPoint.dim > 0, () => 'fake_quantize: expected vectors of a scale and a zero point, found numbers')
  check(scale.numel > 0 && zeroPoint.numel > 0, () => 'fake_quantize: expected a scale and a zero point, found none')
  checkBounds({ min, max })
  return run(x, [numbersOf(scale)[0]!], [nudged(numbersOf(zeroPoint)[0]!, { min, max })], -1, { min, max })[0]
}

/** at::_fake_quantize_learnable_per_channel_affine. */
export const _fake_quantize_learnable_per_channel_affine: CPU['_fake_quantize_learnable_per_channel_affine'] = (
  x,
  scale,
  zeroPoint,
  axis,
  min,
  max,
) => {
  checkBounds({ min, max })
  check(axis >= 0 && axis < x.dim, () => `fake_quantize: expected an axis below ${x.dim}, found ${axis}`)
  if (scale.type !== DType.float32 && scale.type !== DType.bfloat16) {
    throw new PtliteError('INVALID_DTYPE', `fake_quantize: expected float32 or bfloat16 scales, found ${scale.dtype}`)
  }
  checkChannels(x, scale, zeroPoint, axis)
  const zeros = numbersOf(zeroPoint).map((z) => nudged(z, { min, max }))
  return run(x, numbersOf(scale), zeros, axis, { min, max })[0]
}
