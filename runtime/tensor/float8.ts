import { DType } from './dtype.js'
import { roundHalfEven } from './half.js'

/*
 * Floating-point numbers of 8 bits, as "FP8 Formats for Deep Learning" (Micikevicius et al., 2022) has them, and their forms without infinities and
 * without a negative zero (fnuz), whose only NaN is 0x80. JavaScript sees them as their bits.
 */

interface Format {
  /** Bits of the fraction. */
  readonly fraction: number
  /** Of the exponent. */
  readonly bias: number
  /** The code of the greatest finite number. */
  readonly greatest: number
  /** What numbers beyond it become: the greatest itself, infinity, or NaN. */
  readonly beyond: number
  readonly isFnuz: boolean
}

function formatOf(type: DType): Format {
  switch (type) {
    case DType.float8_e4m3fn:
      return { fraction: 3, bias: 7, greatest: 0x7e, beyond: 0x7e, isFnuz: false }
    case DType.float8_e5m2:
      return { fraction: 2, bias: 15, greatest: 0x7b, beyond: 0x7c, isFnuz: false }
    case DType.float8_e4m3fnuz:
      return { fraction: 3, bias: 8, greatest: 0x7f, beyond: 0x80, isFnuz: true }
    default:
      return { fraction: 2, bias: 16, greatest: 0x7f, beyond: 0x80, isFnuz: true }
  }
}

/** The number that the bits of an element of an 8-bit floating-point dtype stand for. */
export function float8Value(bits: number, type: DType): number {
  const { fraction, bias, greatest, isFnuz } = formatOf(type)
  if (isFnuz && bits === 0x80) return NaN
  const magnitude = bits & 0x7f
  const sign = bits & 0x80 ? -1 : 1
  if (magnitude > greatest) return type === DType.float8_e5m2 && magnitude === 0x7c ? sign * Infinity : NaN
  const exponent = magnitude >> fraction
  const rest = (magnitude & ((1 << fraction) - 1)) / 2 ** fraction
  return sign * (exponent === 0 ? rest * 2 ** (1 - bias) : (1 + rest) * 2 ** (exponent - bias))
}

/** The bits of a number in an 8-bit floating-point dtype, rounded to nearest even by way of float32. */
export function numberToFloat8(number: number, type: DType): number {
  const value = Math.fround(number)
  const { fraction, bias, greatest, beyond, isFnuz } = formatOf(type)
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0
  if (Number.isNaN(value)) return isFnuz ? 0x80 : 0x7f
  const magnitude = Math.abs(value)
  const exponent = Math.max(Math.floor(Math.log2(magnitude)) + bias, 1)
  // codes are in the order of their numbers: what is rounded up to the next power of two carries into the exponent
  const inUnits = roundHalfEven(magnitude / 2 ** (exponent - bias - fraction))
  const code = ((exponent - 1) << fraction) + inUnits
  if (code > greatest) return isFnuz ? beyond : sign | beyond
  return isFnuz && code === 0 ? 0 : sign | code
}
