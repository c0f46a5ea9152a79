import { check } from '../../error.js'
import { type AnyScalar, Complex, type Int, type Scalar } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { intFromDouble } from './support/integer.js'
import { intOf, isFloat, type Real } from './support/scalar.js'
import { valueText } from './support/value-text.js'

/* Conversions between tensors, numbers, bools and strings. A tensor must have exactly one element. */

export function bool_of(a: Real): boolean {
  return Number(a) !== 0
}

/** An int, or a float truncated toward zero. Throws INVALID_ARGUMENT where `bits` do not hold the float. */
export function intOfScalar(value: Scalar, bits: 32 | 64): Int {
  if (!isFloat(value)) return intOf(value)
  const limit = 2 ** (bits - 1)
  check(value.value > -limit - 1 && value.value < limit, () => `expected a number of ${bits} bits, found ${value.value}`)
  return intFromDouble(value.value)
}

export function int_of_bool(a: boolean): Int {
  return Number(a)
}

/** Truncated toward zero; INT64_MIN for whatever does not fit. */
export function int_of_float(a: number): Int {
  return intFromDouble(a)
}

/** A float has to fit 32 bits, as in PyTorch. */
export function int_of_scalar(a: Scalar): Int {
  return intOfScalar(a, 32)
}

/** Of a complex number the real part, as in PyTorch. */
export function float_of_scalar(a: AnyScalar): number {
  return a instanceof Complex ? a.re : Number(a)
}

/** Rounded to single precision on the way, as in PyTorch. */
export function float_of_int(a: Int): number {
  return Math.fround(Number(a))
}

export function float_of_bool(a: boolean): number {
  return Number(a)
}

/** str() of any value. */
export function str_of(elem: Value): string {
  return valueText(elem)
}
