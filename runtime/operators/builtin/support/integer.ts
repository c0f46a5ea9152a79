import { PtliteError } from '../../../error.js'
import { type Int, toInt } from '../../../tensor/scalar.js'

/**
 * Arithmetic of 64-bit integers, wrapping around as in C. While operands and result are safe integers it is done in
 * doubles, which are exact there; otherwise in bigints.
 */

export function addInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInt(BigInt(a) + BigInt(b))
}

export function subInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return toInt(BigInt(a) - BigInt(b))
}

export function mulInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product + 0 // -0 is no integer
  }
  return toInt(BigInt(a) * BigInt(b))
}

export function negInt(a: Int): Int {
  return typeof a === 'number' ? 0 - a : toInt(-a)
}

export function absInt(a: Int): Int {
  return a < 0 ? negInt(a) : a
}

export function divisionByZero(what: string): PtliteError {
  return new PtliteError('MODEL_ERROR', `ZeroDivisionError: ${what}`)
}

/** Quotient rounded down, as Python's `//`. Throws MODEL_ERROR for a zero divisor. */
export function floorDivInt(a: Int, b: Int): Int {
  if (b === 0) throw divisionByZero('integer division by zero')
  if (typeof a === 'number' && typeof b === 'number') {
    // exact: the quotient of safe integers is off by less than the distance to the next integer
    const remainder = a % b
    const quotient = (a - remainder) / b
    return (remainder !== 0 && remainder < 0 !== b < 0 ? quotient - 1 : quotient) + 0
  }
  const [x, y] = [BigInt(a), BigInt(b)]
  const quotient = x / y
  return toInt(x % y !== 0n && x < 0n !== y < 0n ? quotient - 1n : quotient)
}

/** Remainder with the divisor's sign, as Python's `%`. Throws MODEL_ERROR for a zero divisor. */
export function remainderInt(a: Int, b: Int): Int {
  if (b === 0) throw divisionByZero('integer division or modulo by zero')
  if (typeof a === 'number' && typeof b === 'number') {
    const remainder = a % b
    return (remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder) + 0
  }
  const [x, y] = [BigInt(a), BigInt(b)]
  const remainder = x % y
  return toInt(remainder !== 0n && remainder < 0n !== y < 0n ? remainder + y : remainder)
}

/**
 * The int64 that a double converts to in C on x86: truncated toward zero, and INT64_MIN for NaN and whatever does not fit.
 */
export function intFromDouble(value: number): Int {
  const whole = Math.trunc(value)
  if (Number.isSafeInteger(whole)) return whole + 0
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? toInt(BigInt(whole)) : -(2n ** 63n)
}

/** As intFromDouble, but throws MODEL_ERROR beyond int64 (math.floor, math.ceil). As in PyTorch 2^63 itself passes, and wraps around. */
export function checkedIntFromDouble(value: number): Int {
  if (!(Math.abs(value) <= 2 ** 63)) {
    throw new PtliteError('MODEL_ERROR', `OverflowError: cannot convert float ${value} to integer`)
  }
  return intFromDouble(value)
}

/** The lower 32 bits, as a signed number: what some sums of PyTorch accumulate in. */
export function wrapInt32(value: Int): number {
  return Number(BigInt.asIntN(32, BigInt(value)))
}
