import { absent, check, PtliteError } from '../error.js'
import * as features from '../features.js'
import { DType, dtypeName, isFloating } from './dtype.js'
import { numberToFloat8 } from './float8.js'
import { bfloat16ToNumber, halfToNumber, numberToBfloat16, numberToHalf } from './half.js'

/** A floating-point number of a program, kept apart from ints so that 2.0 is not 2. */
export class Float {
  constructor(
    /** The number. */
    readonly value: number,
  ) {}

  /** The number, which arithmetic of JavaScript takes it for. */
  valueOf(): number {
    return this.value
  }

  /** The number as JavaScript writes it. */
  toString(): string {
    return String(this.value)
  }
}

/** An int64: a number while it is a safe integer, a bigint beyond. */
export type Int = number | bigint

/** A number argument of PyTorch (at::Scalar). */
export type Scalar = Int | Float | boolean

/** A number argument of the operators that take complex ones, too. */
export type AnyScalar = Scalar | Complex

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** The canonical form of an integer: wrapped to 64 bits, a number where it is safe. */
export function toInt(value: bigint): Int {
  const wrapped = BigInt.asIntN(64, value)
  return wrapped >= -9007199254740991n && wrapped <= 9007199254740991n ? Number(wrapped) : wrapped
}

/** Marks an integer. Throws INVALID_ARGUMENT for fractions and values outside int64. */
export function int(value: number | bigint): Int {
  if (typeof value === 'bigint') {
    if (value < INT64_MIN || value > INT64_MAX) {
      throw new PtliteError('INVALID_ARGUMENT', `expected an integer of 64 bits, found ${value}`)
    }
    return toInt(value)
  }
  if (!Number.isInteger(value))
    throw new PtliteError('INVALID_ARGUMENT', `expected an integer, found ${typeof value === 'number' ? value : typeof value}`)
  return Number.isSafeInteger(value) ? value : int(BigInt(value))
}

/** Marks a floating-point number, integral ones included. Throws INVALID_ARGUMENT for what is no number. */
export function float(value: number): Float {
  return new Float(numberOf(value))
}

export function isFloatScalar(value: unknown): value is Float | number {
  return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))
}

/** The number behind any scalar; int64 beyond 2^53 is rounded. */
export function scalarToNumber(value: Scalar): number {
  return typeof value === 'number' ? value : Number(value)
}

/** The int64 behind any scalar, floats truncated toward zero. */
export function scalarToBigInt(value: Scalar): bigint {
  if (typeof value === 'bigint') return value
  const n = Math.trunc(scalarToNumber(value))
  if (Number.isNaN(n)) return INT64_MIN
  return n >= 2 ** 63 ? INT64_MAX : n <= -(2 ** 63) ? INT64_MIN : BigInt(n)
}

/** A number that a caller gives, who may be one without types. */
export function numberOf(value: unknown): number {
  check(typeof value === 'number' || typeof value === 'bigint', () => `expected a number, found ${value === null ? 'None' : typeof value}`)
  return Number(value)
}

/** A complex number of a program, in double precision. */
export class Complex {
  constructor(
    /** The real part. */
    readonly re: number,
    /** The imaginary part. */
    readonly im: number,
  ) {}

  /** As Python writes it: `(1+2j)`. */
  toString(): string {
    return `(${this.re}${this.im < 0 || Object.is(this.im, -0) ? '-' : '+'}${Math.abs(this.im)}j)`
  }
}

/** True for complex numbers, where there is code for them. */
export function isComplexNumber(value: unknown): value is Complex {
  return features.complex && value instanceof Complex
}

/** A complex number: the real part, and the imaginary one. Throws INVALID_ARGUMENT for what are no numbers. */
export function complex(re: number, im = 0): Complex {
  if (!features.complex) throw absent('complex numbers')
  return new Complex(numberOf(re), numberOf(im))
}

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
    case DType.float8_e4m3fn:
    case DType.float8_e5m2:
    case DType.float8_e4m3fnuz:
    case DType.float8_e5m2fnuz:
      return [features.limited ? numberToFloat8(scalarToNumber(value), type) : 0, 0]
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
  [DType.float8_e4m3fn, [-448, 448]],
  [DType.float8_e5m2, [-57344, 57344]],
  [DType.float8_e4m3fnuz, [-240, 240]],
  [DType.float8_e5m2fnuz, [-57344, 57344]],
  [DType.uint16, [0, 0xffff]],
  [DType.uint32, [0, 0xffffffff]],
  [DType.uint64, [0, 2 ** 64]],
])

/** Throws INVALID_ARGUMENT where a scalar lies outside of a dtype's range (c10::overflows): negative integers may wrap to uint8. */
export function checkInRange(type: DType, value: Scalar): void {
  const limits = LIMITS[type]
  if (limits === undefined || typeof value === 'boolean') return
  const number = scalarToNumber(value)
  if (number >= limits[0] && number <= limits[1]) return
  if (isFloating(type) ? !Number.isFinite(number) : limits[0] === 0 && wraps(value, number, limits[1])) return
  throw new PtliteError('INVALID_ARGUMENT', `value ${String(value)} cannot be converted to ${dtypeName(type)} without overflow`)
}

/** A negative integer that an unsigned dtype has the opposite of. */
function wraps(value: Scalar, number: number, greatest: number): boolean {
  return !(value instanceof Float) && number < 0 && number >= -greatest
}
