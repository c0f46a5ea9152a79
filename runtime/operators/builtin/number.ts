import { PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { absInt, addInt, divisionByZero, floorDivInt, mulInt, negInt, remainderInt, subInt } from './support/integer.js'
import { factorialInt, gcdInt, truncDivInt } from './support/bits.js'
import { pow } from './support/real.js'
import type { Real } from './support/scalar.js'

export { addInt as add_int, subInt as sub_int, mulInt as mul_int, negInt as neg_int, absInt as abs_int, gcdInt as gcd_int }
export { floorDivInt as floordiv_int, remainderInt as remainder_int, truncDivInt as round_to_zero_floordiv, factorialInt as factorial_int }

export function add_float(a: Real, b: Real): number {
  return Number(a) + Number(b)
}

export function sub_float(a: Real, b: Real): number {
  return Number(a) - Number(b)
}

export function mul_float(a: Real, b: Real): number {
  return Number(a) * Number(b)
}

/** True division; of ints too. A zero divisor gives an infinity or NaN. */
export function div_float(a: Real, b: Real): number {
  return Number(a) / Number(b)
}

/** Power of ints or floats, always a float. Throws MODEL_ERROR for zero to a negative power. */
export function pow_float(a: Real, b: Real): number {
  const [base, exponent] = [Number(a), Number(b)]
  if (base === 0 && exponent < 0) throw divisionByZero('0.0 cannot be raised to a negative power')
  return pow(base, exponent)
}

export function neg_float(a: number): number {
  return -a
}

export function abs_float(a: number): number {
  return Math.abs(a)
}

export function min_int(a: Int, b: Int): Int {
  return a < b ? a : b
}

export function max_int(a: Int, b: Int): Int {
  return a > b ? a : b
}

/** The second argument unless the first one is less: a NaN on either side gives the second. */
export function min_float(a: Real, b: Real): number {
  return Number(a) < Number(b) ? Number(a) : Number(b)
}

export function max_float(a: Real, b: Real): number {
  return Number(a) > Number(b) ? Number(a) : Number(b)
}

/** Number of steps of range(lo, hi, step). Throws MODEL_ERROR for a zero step. */
export function range_length(lo: Int, hi: Int, step: Int): Int {
  if (step === 0) throw new PtliteError('MODEL_ERROR', 'ValueError: range() arg 3 must not be zero')
  if (step > 0 && lo < hi) return addInt(1, truncDivInt(subInt(subInt(hi, 1), lo), step))
  if (step < 0 && lo > hi) return addInt(1, truncDivInt(subInt(subInt(lo, 1), hi), negInt(step)))
  return 0
}

/** The value of a range at a step. */
export function derive_index(index: Int, start: Int, step: Int): Int {
  return addInt(start, mulInt(index, step))
}
