import { PtliteError } from '../error.js'
import { DType, dtypeName } from './dtype.js'
import { bfloat16ToNumber, halfToNumber, numberToBfloat16, numberToHalf } from './half.js'
import { Float, type Scalar, scalarToBigInt, scalarToNumber } from './scalar.js'

const words = new Int32Array(2)
const doubles = new Float64Array(words.buffer)
const floats = /* @__PURE__ */ new Float32Array(words.buffer)
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
      return longBits(value)
  }
  return [words[0]!, words[1]!]
}

/** scalarBits of int64. */
export function longBits(value: Scalar): readonly [low: number, high: number] {
  longs[0] = scalarToBigInt(value)
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
const LIMITS: Partial<Record<DType, readonly [number, number]>> = Object.fromEntries([
  [DType.uint8, [0, 255]],
  [DType.int8, [-128, 127]],
  [DType.int16, [-0x8000, 0x7fff]],
  [DType.int32, [-0x80000000, 0x7fffffff]],
  [DType.int64, [-(2 ** 63), 2 ** 63]],
  [DType.float16, [-65504, 65504]],
  [DType.bfloat16, [-3.3895313892515355e38, 3.3895313892515355e38]],
  [DType.float32, [-3.4028234663852886e38, 3.4028234663852886e38]],
])

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
