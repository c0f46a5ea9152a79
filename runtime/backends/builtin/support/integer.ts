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

/** Quotient rounded toward zero, as C's `/`. Throws MODEL_ERROR for a zero divisor. */
export function truncDivInt(a: Int, b: Int): Int {
  if (b === 0) throw divisionByZero('integer division by zero')
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0
  return toInt(BigInt(a) / BigInt(b))
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

/** Greatest common divisor, never negative. */
export function gcdInt(a: Int, b: Int): Int {
  while (b !== 0) [a, b] = [b, remainderInt(a, b)]
  return absInt(a)
}

// x86 shifts by the count modulo 64, which is what TorchScript shows
const shiftCount = (count: Int): bigint => BigInt.asUintN(6, BigInt(count))

export function shiftLeft(a: Int, count: Int): Int {
  return toInt(BigInt(a) << shiftCount(count))
}

/** Arithmetic shift: the sign stays. */
export function shiftRight(a: Int, count: Int): Int {
  return toInt(BigInt(a) >> shiftCount(count))
}

const fitsInt32 = (a: Int, b: Int): boolean => (a as number) === (a as number) >> 0 && (b as number) === (b as number) >> 0

export function andInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && fitsInt32(a, b)) return a & b
  return toInt(BigInt(a) & BigInt(b))
}

export function orInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && fitsInt32(a, b)) return a | b
  return toInt(BigInt(a) | BigInt(b))
}

export function xorInt(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number' && fitsInt32(a, b)) return a ^ b
  return toInt(BigInt(a) ^ BigInt(b))
}

/**
 * Factorial modulo 2^64. PyTorch computes the odd part and then shifts by the number of twos, a count that x86 takes modulo 64;
 * so beyond 66! the result is not zero. Throws MODEL_ERROR for negative numbers and those above a million.
 */
export function factorialInt(n: Int): Int {
  if (n < 0) throw new PtliteError('MODEL_ERROR', 'ValueError: factorial() not defined for negative values')
  const count = Number(n)
  if (count > 1e6) throw new PtliteError('MODEL_ERROR', `OverflowError: factorial() argument should not exceed 1000000, found ${n}`)
  let odd = 1n
  let twos = 0
  for (let i = 2; i <= count; i++) {
    let factor = i
    while (factor % 2 === 0) {
      factor /= 2
      twos++
    }
    odd = BigInt.asIntN(64, odd * BigInt(factor))
  }
  return shiftLeft(toInt(odd), twos)
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
