import { PtliteError } from '../error.js'
import { roundHalfEven } from './rounding.js'
import { bfloat16ToNumber, halfToNumber } from './data.js'
import { DType, dtypeName } from './dtype.js'
import { Float, type Scalar, scalarToBigInt, scalarToNumber } from './scalar.js'

const words = new Int32Array(2)
const doubles = new Float64Array(words.buffer)
const floats = new Float32Array(words.buffer)
const longs = new BigInt64Array(words.buffer)

/** The element of dtype `type` that holds a scalar, as the low and high word of its bits. Integers wrap around. */
export function scalarBits(type: DType, value: Scalar): readonly [low: number, high: number] {
  switch (type) {
    case DType.bool:
      return [scalarToNumber(value) !== 0 ? 1 : 0, 0]
    case DType.float64:
      doubles[0] = scalarToNumber(value)
      break
    case DType.float32:
      floats[0] = scalarToNumber(value)
      return [words[0]!, 0]
    case DType.float16:
      return [numberToHalf(scalarToNumber(value)), 0]
    case DType.bfloat16:
      return [numberToBfloat16(scalarToNumber(value)), 0]
    default:
      longs[0] = scalarToBigInt(value)
  }
  return [words[0]!, words[1]!]
}

/** The number that an element of dtype `type` holds after a scalar was stored. Throws INVALID_ARGUMENT out of its range. */
export function storedValue(type: DType, value: Scalar): number {
  checkInRange(type, value)
  const [low] = scalarBits(type, value)
  switch (type) {
    case DType.float16:
      return halfToNumber(low)
    case DType.bfloat16:
      return bfloat16ToNumber(low)
    case DType.float32:
      return Math.fround(scalarToNumber(value))
    case DType.uint8:
      return low & 255
    case DType.bool:
      return low
    default:
      return type === DType.float64 ? scalarToNumber(value) : Math.trunc(scalarToNumber(value))
  }
}

/** Least and greatest value of a dtype; dtypes that hold every scalar are left out. */
const LIMITS: Partial<Record<DType, readonly [number, number]>> = {
  [DType.uint8]: [0, 255],
  [DType.int8]: [-128, 127],
  [DType.int16]: [-(2 ** 15), 2 ** 15 - 1],
  [DType.int32]: [-(2 ** 31), 2 ** 31 - 1],
  [DType.int64]: [-(2 ** 63), 2 ** 63],
  [DType.float16]: [-65504, 65504],
  [DType.bfloat16]: [-3.3895313892515355e38, 3.3895313892515355e38],
  [DType.float32]: [-3.4028234663852886e38, 3.4028234663852886e38],
}

/** Throws INVALID_ARGUMENT where a scalar lies outside of a dtype's range (c10::overflows): negative integers may wrap to uint8. */
export function checkInRange(type: DType, value: Scalar): void {
  const limits = LIMITS[type]
  if (limits === undefined || typeof value === 'boolean') return
  const number = scalarToNumber(value)
  if (number >= limits[0] && number <= limits[1]) return
  if (type > DType.int64 ? !Number.isFinite(number) : type === DType.uint8 && !(value instanceof Float) && number < 0 && number >= -255)
    return
  throw new PtliteError('INVALID_ARGUMENT', `value ${String(value)} cannot be converted to ${dtypeName(type)} without overflow`)
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
