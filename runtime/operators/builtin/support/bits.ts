import { PtliteError } from '../../../error.js'
import { type Int, toInt } from '../../../tensor/scalar.js'
import { absInt, divisionByZero, remainderInt } from './integer.js'

/** Quotient rounded toward zero, as C's `/`. Throws MODEL_ERROR for a zero divisor. */
export function truncDivInt(a: Int, b: Int): Int {
  if (b === 0) throw divisionByZero('integer division by zero')
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0
  return toInt(BigInt(a) / BigInt(b))
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
