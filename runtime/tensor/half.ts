import { DType, dtypeName } from './dtype.js'
import { noteUse } from '../traced-parts.js'
import * as features from '../features.js'
import { absent } from '../error.js'

/* float16 and bfloat16 elements, which JavaScript sees as their 16 bits. */

const words = new Int32Array(1)
const floats = /* @__PURE__ */ new Float32Array(words.buffer)

export function isHalf(type: DType): boolean {
  return type === DType.float16 || type === DType.bfloat16
}

/** The value of IEEE half-precision bits. */
export function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** The value of bfloat16 bits. */
export function bfloat16ToNumber(bits: number): number {
  words[0] = bits << 16
  return floats[0]!
}

/** IEEE half-precision bits of a number, rounded to nearest even by way of float32. */
export function numberToHalf(value: number): number {
  floats[0] = value
  const bits = words[0]!
  const sign = (bits >>> 16) & 0x8000
  const exponent = (bits >>> 23) & 255
  const fraction = bits & 0x7fffff
  if (exponent === 255) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200)
  const magnitude = Math.abs(floats[0]!)
  if (magnitude >= 65520) return sign | 0x7c00
  if (magnitude < 2 ** -14) return sign | roundHalfEven(magnitude * 2 ** 24)
  const mantissa = (exponent - 112) * 1024 + fraction / 8192
  return sign | roundHalfEven(mantissa)
}

/** bfloat16 bits of a number, rounded to nearest even by way of float32. */
export function numberToBfloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0
  floats[0] = value
  return roundHalfEven((words[0]! >>> 0) / 65536) & 0xffff
}

/** The nearest integer, ties to the even one. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor
}

/** The number that the bits of an element stand for; `type` is float16 or bfloat16. */
export function halfValue(bits: number, type: DType): number {
  if (!features.half) throw absent(dtypeName(type))
  noteUse('halves')
  return type === DType.float16 ? halfToNumber(bits) : bfloat16ToNumber(bits)
}
