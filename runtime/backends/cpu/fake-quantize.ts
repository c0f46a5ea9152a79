import { check, PtliteError } from '../../error.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { roundHalfEven } from '../../tensor/rounding.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { numbersOf } from './support/quantization.js'

/** float32 values as a quantized tensor would hold them: dequantize(quantize(x)), with a mask of what was not saturated. */

interface Bounds {
  readonly min: number
  readonly max: number
}

function checkArguments(x: Tensor, zeroPoints: readonly number[], { min, max }: Bounds): void {
  if (x.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `fake_quantize: expected a float32 tensor, found ${x.dtype}`)
  check(min <= max, () => `fake_quantize: expected quant_min up to quant_max, found ${min} and ${max}`)
  for (const z of zeroPoints)
    check(z >= min && z <= max, () => `fake_quantize: expected a zero point between ${min} and ${max}, found ${z}`)
}

type ChannelOf = (index: number) => number

function run(
  x: Tensor,
  scales: readonly number[],
  zeroPoints: readonly number[],
  channelOf: ChannelOf,
  { min, max }: Bounds,
): [Tensor, Tensor] {
  const source = readTensor(x) as Float32Array
  const inverses = scales.map((s) => Math.fround(1 / Math.fround(s)))
  const data = new Float32Array(source.length)
  const inside = new Uint8Array(source.length)
  source.forEach((value, i) => {
    const c = channelOf(i)
    const zero = zeroPoints[c]!
    const q = roundHalfEven(zero + Math.fround(value * inverses[c]!))
    data[i] = (Math.min(max, Math.max(min, q)) - zero) * Math.fround(scales[c]!)
    inside[i] = q >= min && q <= max ? 1 : 0
  })
  return [filled(x.shape, DType.float32, data), filled(x.shape, DType.bool, inside)]
}

function filled(shape: readonly number[], type: DType, data: Float32Array | Uint8Array): Tensor {
  const t = empty(shape, type)
  writeTensor(t, data)
  return t
}

/** at::fake_quantize_per_tensor_affine with the mask of gradients. */
export function fake_quantize_per_tensor_affine_cachemask(
  x: Tensor,
  scale: number,
  zeroPoint: number,
  min: number,
  max: number,
): [Tensor, Tensor] {
  checkArguments(x, [zeroPoint], { min, max })
  return run(x, [scale], [zeroPoint], () => 0, { min, max })
}

export function fake_quantize_per_tensor_affine(x: Tensor, scale: number, zeroPoint: number, min: number, max: number): Tensor {
  return fake_quantize_per_tensor_affine_cachemask(x, scale, zeroPoint, min, max)[0]
}

function single(t: Tensor, what: string): number {
  check(t.numel === 1, () => `${what}: expected one element, found ${t.numel}`)
  return numbersOf(t)[0]!
}

export function fake_quantize_per_tensor_affine_tensor_qparams(
  x: Tensor,
  scale: Tensor,
  zeroPoint: Tensor,
  min: number,
  max: number,
): Tensor {
  return fake_quantize_per_tensor_affine(x, single(scale, 'scale'), single(zeroPoint, 'zero_point'), min, max)
}

/** A scale and a zero point for each index of dimension `axis`. */
export function fake_quantize_per_channel_affine_cachemask(
  x: Tensor,
  scale: Tensor,
  zeroPoint: Tensor,
  axis: number,
  min: number,
  max: number,
): [Tensor, Tensor] {
  check(axis >= 0 && axis < x.dim, () => `fake_quantize: expected an axis below ${x.dim}, found ${axis}`)
  const channels = x.shape[axis]!
  check(
    scale.numel === channels && zeroPoint.numel === channels,
    () => `fake_quantize: expected ${channels} scales and zero points, found ${scale.numel} and ${zeroPoint.numel}`,
  )
  const good = isFloating(zeroPoint.type) || zeroPoint.type === DType.int32
  if (!good) throw new PtliteError('INVALID_DTYPE', `fake_quantize: expected int32 or floating point zero points, found ${zeroPoint.dtype}`)
  const zeros = numbersOf(zeroPoint)
  checkArguments(x, isFloating(zeroPoint.type) ? [] : zeros, { min, max })
  const inner = x.shape.slice(axis + 1).reduce((a, b) => a * b, 1)
  return run(x, numbersOf(scale), zeros, (i) => Math.floor(i / inner) % channels, { min, max })
}

export function fake_quantize_per_channel_affine(
  x: Tensor,
  scale: Tensor,
  zeroPoint: Tensor,
  axis: number,
  min: number,
  max: number,
): Tensor {
  return fake_quantize_per_channel_affine_cachemask(x, scale, zeroPoint, axis, min, max)[0]
}
