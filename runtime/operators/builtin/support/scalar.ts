import { check } from '../../../error.js'
import { kindOf } from '../../../tensor/kind-of.js'
import { type AnyScalar, Complex, Float, type Int, type Scalar } from '../../../tensor/scalar.js'
import type { Value } from '../../../tensor/value.js'

/** Both numeric types of a program, as natives receive them: a float is a plain number, an int may be a bigint. */
export type Real = number | bigint

export function isFloat(value: Scalar): value is Float {
  return value instanceof Float
}

/** The int behind a scalar that is no float; a bool counts as 0 or 1. */
export function intOf(value: Exclude<Scalar, Float>): Int {
  return typeof value === 'boolean' ? Number(value) : value
}

/** A number as an operand beside a complex one. */
export function operandOf(value: AnyScalar): Complex | Real {
  return value instanceof Complex ? value : isFloat(value) ? value.value : intOf(value)
}

/**
 * An item of a list of numbers, bools or strings, to be compared or added; of a float its number. Throws INVALID_ARGUMENT for any other value:
 * JavaScript would make a text of it first, with all that it holds.
 */
export function plainItem(value: Value): number | bigint | boolean | string {
  if (value instanceof Float) return value.value
  check(typeof value !== 'object', () => `expected a list of numbers, bools or strings, found ${kindOf(value)} in it`)
  return value
}

/** The number in a list of floats. */
export function floatOf(value: Value): number {
  return typeof value === 'number' ? value : Number(plainItem(value))
}

/** An operation on two numbers whose type is known only at run time: exact on two ints, in doubles as soon as one is a float. */
export function scalarBinary<T, U>(a: Scalar, b: Scalar, ofInts: (a: Int, b: Int) => T, ofFloats: (a: number, b: number) => U): T | U {
  if (isFloat(a) || isFloat(b)) return ofFloats(Number(a), Number(b))
  return ofInts(intOf(a), intOf(b))
}
