import { PtliteError } from '../error.js'
import type { Complex } from './complex-number.js'
import { numberOf } from './number.js'

export { Complex, complex } from './complex-number.js'

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
