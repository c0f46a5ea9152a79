import { absent, check, PtliteError } from '../error.js'
import { DType, dtypeName, isQuantized } from './dtype.js'
import { Float, type Scalar } from './scalar.js'
import * as features from '../features.js'

/* Scales and zero points of quantized tensors. */

/** real = (integer - zeroPoint) * scale */
export interface PerTensorQuant {
  /** The distance of two neighbouring numbers. */
  readonly scale: number
  /** The integer that stands for 0. */
  readonly zeroPoint: number
}

/** One scale and zero point per index of dimension `axis`. */
export interface PerChannelQuant {
  /** The dimension whose indices have scales of their own. */
  readonly axis: number
  /** As many as there are indices. */
  readonly scales: readonly number[]
  /** As many as there are scales. */
  readonly zeroPoints: readonly number[]
  /** per_channel_affine_float_qparams: the zero points are fractions. */
  readonly floatZeroPoints?: boolean
}

/** What the integers of a quantized tensor stand for. */
export type Quant = PerTensorQuant | PerChannelQuant

export function isPerChannel(quant: Quant): quant is PerChannelQuant {
  return 'axis' in quant
}

/** A copy of what a caller gave, to be checked. */
export function quantOf(given: Quant): Quant {
  if (!features.quantized) throw absent('a quantized tensor')
  const copyOf = (list: readonly number[]): readonly number[] => (Array.isArray(list) ? Array.from(list) : list)
  if (typeof given !== 'object') return given
  if (!('axis' in given)) return { scale: given.scale, zeroPoint: given.zeroPoint }
  const { axis, scales, zeroPoints, floatZeroPoints } = given
  return { axis, scales: copyOf(scales), zeroPoints: copyOf(zeroPoints), ...(floatZeroPoints === true ? { floatZeroPoints } : {}) }
}

export function frozenQuant(quant: Quant): Quant {
  if (!features.quantized || Object.isFrozen(quant)) return quant
  if (!isPerChannel(quant)) return Object.freeze({ ...quant })
  return Object.freeze({ ...quant, scales: Object.freeze([...quant.scales]), zeroPoints: Object.freeze([...quant.zeroPoints]) })
}

/** Throws INVALID_ARGUMENT unless these are quantization parameters of a tensor of this shape and dtype. */
export function checkQuant(quant: Quant, shape: readonly number[], type: DType): void {
  if (!features.quantized) return
  checkNumbers(quant, shape)
  check(holdsZeroPoint(quant, type), () => `expected a zero point that ${dtypeName(type)} can hold`)
}

function checkNumbers(quant: Quant, shape: readonly number[]): void {
  const areNumbers = (list: unknown): boolean => Array.isArray(list) && list.every((x) => typeof x === 'number' && Number.isFinite(x))
  const isOne =
    typeof quant === 'object' &&
    (!('axis' in quant) ? areNumbers([quant.scale, quant.zeroPoint]) : areNumbers(quant.scales) && areNumbers(quant.zeroPoints))
  check(isOne, () => 'quant must be { scale, zeroPoint } or { axis, scales, zeroPoints }, of finite numbers')
  if (!isPerChannel(quant)) return
  const { axis, scales, zeroPoints } = quant
  const channels = Number.isInteger(axis) ? shape[axis] : undefined
  check(
    scales.length === channels && zeroPoints.length === channels,
    () =>
      `a tensor of shape [${shape.join(', ')}] has ${scales.length} scales and ${zeroPoints.length} zero points on axis ${typeof axis === 'number' ? axis : typeof axis}`,
  )
}

/** Throws unless tensors of a quantized dtype, and only these, have parameters, and those quantized per channel as many as the shape has channels. */
export function checkParameters(type: DType, shape: readonly number[], quant: Quant | null): void {
  if (!features.quantized) return
  if (quant === null) {
    if (!isQuantized(type)) return
    throw new PtliteError('INVALID_DTYPE', `a ${dtypeName(type)} tensor needs a scale and a zero point; use _empty_affine_quantized`)
  }
  if (!isQuantized(type)) throw new PtliteError('INVALID_DTYPE', `expected a quantized dtype, found ${dtypeName(type)}`)
  if (!isPerChannel(quant) || shape[quant.axis] === quant.scales.length) return
  const { axis, scales } = quant
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `a tensor quantized per channel, by ${scales.length} scales along dimension ${axis}, cannot have the shape [${shape.join(', ')}]`,
  )
}

/** The zero point of a whole tensor is one of its integers: kernels keep it in as many bits. Those per channel may be any number. */
export function holdsZeroPoint(quant: Quant, type: DType): boolean {
  if (isPerChannel(quant)) return true
  const { zeroPoint } = quant
  const [low, high] = type === DType.quint8 ? [0, 255] : type === DType.qint8 ? [-128, 127] : [-(2 ** 31), 2 ** 31 - 1]
  return Number.isInteger(zeroPoint) && zeroPoint >= low! && zeroPoint <= high!
}

/** The number that an integer of a tensor stands for; itself where there is no scale, or one per channel. */
export function scaledElement(value: number, quant: Quant | null): Scalar {
  return features.quantized && quant !== null && 'scale' in quant ? new Float(Math.fround((value - quant.zeroPoint) * quant.scale)) : value
}
