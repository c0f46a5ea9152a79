import { type AnyScalar, Complex, Float, type Int, type Scalar } from '../../tensor/scalar.js'
import * as complex from './complex.js'
import {
  absInt,
  addInt,
  checkedIntFromDouble,
  divisionByZero,
  floorDivInt,
  mulInt,
  negInt,
  remainderInt,
  subInt,
  wrapInt32,
} from './support/integer.js'
import { pow } from './support/real.js'
import { intOf, isFloat, operandOf, type Real, scalarBinary } from './support/scalar.js'
import { max_float, max_int, min_float, min_int, pow_float } from './number.js'

/*
 * Arithmetic of ints and floats. `_float` functions also serve the overloads that mix an int and a float: the int is
 * converted to a double first. `_Scalar` functions take numbers whose type is known only at run time.
 */

const boxed = (value: number): Float => new Float(value)

export function add_Scalar(a: AnyScalar, b: AnyScalar): AnyScalar {
  if (a instanceof Complex || b instanceof Complex) return complex.add_complex(operandOf(a), operandOf(b))
  return scalarBinary(a, b, addInt, (x, y) => boxed(x + y))
}

export function sub_Scalar(a: AnyScalar, b: AnyScalar): AnyScalar {
  if (a instanceof Complex || b instanceof Complex) return complex.sub_complex(operandOf(a), operandOf(b))
  return scalarBinary(a, b, subInt, (x, y) => boxed(x - y))
}

export function mul_Scalar(a: AnyScalar, b: AnyScalar): AnyScalar {
  if (a instanceof Complex || b instanceof Complex) return complex.mul_complex(operandOf(a), operandOf(b))
  return scalarBinary(a, b, mulInt, (x, y) => boxed(x * y))
}

export function div_Scalar(a: Scalar, b: Scalar): number {
  return Number(a) / Number(b)
}

export function floordiv_float(a: Real, b: Real): number {
  return Math.floor(Number(a) / Number(b))
}

export function floordiv_Scalar(a: Scalar, b: Scalar): Scalar {
  return scalarBinary(a, b, floorDivInt, (x, y) => boxed(floordiv_float(x, y)))
}

/** Remainder with the divisor's sign, computed as fmod(b + fmod(a, b), b), whose rounding TorchScript shows. */
export function remainder_float(a: Real, b: Real): number {
  const divisor = Number(b)
  return (divisor + (Number(a) % divisor)) % divisor
}

export function remainder_Scalar(a: Scalar, b: Scalar): Scalar {
  return scalarBinary(a, b, remainderInt, (x, y) => boxed(remainder_float(x, y)))
}

/** Floored quotient and remainder. Throws MODEL_ERROR for a zero divisor. */
export function divmod_int(x: Int, y: Int): [Int, Int] {
  if (y === 0) throw divisionByZero('integer division or modulo by zero')
  return [floorDivInt(x, y), remainderInt(x, y)]
}

export function divmod_float(x: number, y: number): [number, number] {
  if (y === 0) throw divisionByZero('float divmod()')
  const rest = x % y
  const remainder = rest !== 0 && x < 0 !== y < 0 ? rest + y : rest
  return [(x - remainder) / y, remainder]
}

/** divmod of a float and an int, the float in single precision and the int in 32 bits, as PyTorch takes them. */
export function divmod_float_int(x: number, y: Int): [number, number] {
  return divmodSingle(Math.fround(x), wrapInt32(y))
}

/** divmod of an int and a float, of the same precisions. */
export function divmod_int_float(x: Int, y: number): [number, number] {
  return divmodSingle(wrapInt32(x), Math.fround(y))
}

function divmodSingle(a: number, b: number): [number, number] {
  if (b === 0) throw divisionByZero('float divmod()')
  const quotient = Number(checkedIntFromDouble(Math.floor(Math.fround(a / b))))
  return [quotient, a - quotient * b]
}

export function pow_Scalar(a: Scalar, b: Scalar): number {
  return pow(Number(a), Number(b))
}

/** Power of ints computed in doubles, as PyTorch does; with a negative exponent it is a fraction. */
export function pow_int_to_int(a: Int, b: Int): Int {
  return pow_float(a, b)
}

/** Of a float in single precision, as PyTorch has it. */
export function neg_Scalar(a: AnyScalar): AnyScalar {
  if (a instanceof Complex) return complex.neg_complex(a)
  return isFloat(a) ? boxed(Math.fround(-a.value)) : negInt(intOf(a))
}

/** Of floats and complex numbers in single precision, as PyTorch has it. */
export function abs_Scalar(a: AnyScalar): AnyScalar {
  if (a instanceof Complex) return boxed(Math.fround(complex.abs_complex(a)))
  return isFloat(a) ? boxed(Math.fround(Math.abs(a.value))) : absInt(intOf(a))
}

export function min_Scalar(a: Scalar, b: Scalar): Scalar {
  return scalarBinary(a, b, min_int, (x, y) => boxed(min_float(x, y)))
}

export function max_Scalar(a: Scalar, b: Scalar): Scalar {
  return scalarBinary(a, b, max_int, (x, y) => boxed(max_float(x, y)))
}
