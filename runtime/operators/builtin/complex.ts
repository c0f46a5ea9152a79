import { check } from '../../error.js'
import { anyItemOf, itemOf } from '../../tensor/data.js'
import { notComplex } from '../../tensor/promote.js'
import { type AnyScalar, Complex, type Int } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Value } from '../../tensor/value.js'
import * as math from './support/complex-math.js'
import { wrapInt32 } from './support/integer.js'
import { floatOf, type Real } from './support/scalar.js'

/*
 * Complex numbers: arithmetic, where one of two operands may be an int or a float, functions of the math module, and conversions from
 * other numbers and one-element tensors.
 */

type Operand = Complex | Real

function realOf(x: Operand): number {
  return x instanceof Complex ? x.re : Number(x)
}

function imaginaryOf(x: Operand): number {
  return x instanceof Complex ? x.im : 0
}

function complexOf(x: Operand): Complex {
  return x instanceof Complex ? x : new Complex(Number(x), 0)
}

// A real operand has no imaginary part, not even one of 0, whose sign would count.

export function add_complex(a: Operand, b: Operand): Complex {
  if (!(a instanceof Complex)) return new Complex(Number(a) + realOf(b), imaginaryOf(b))
  return new Complex(a.re + realOf(b), b instanceof Complex ? a.im + b.im : a.im)
}

export function sub_complex(a: Operand, b: Operand): Complex {
  if (!(a instanceof Complex)) return new Complex(Number(a) - realOf(b), -imaginaryOf(b))
  return new Complex(a.re - realOf(b), b instanceof Complex ? a.im - b.im : a.im)
}

export function mul_complex(a: Operand, b: Operand): Complex {
  if (!(a instanceof Complex)) return mul_complex(b, a)
  return b instanceof Complex ? math.product(a, b) : new Complex(a.re * Number(b), a.im * Number(b))
}

/** A divisor of 0 gives infinities and NaNs. */
export function div_complex(a: Complex, b: Complex): Complex {
  return math.quotient(a, b)
}

export function pow_complex(a: Operand, b: Operand): Complex {
  if (!(a instanceof Complex)) return math.powerOfReal(Number(a), complexOf(b))
  return b instanceof Complex ? math.power(a, b) : math.realPower(a, Number(b))
}

export function neg_complex(a: Complex): Complex {
  return new Complex(-a.re, -a.im)
}

/** Both parts equal; a real number has an imaginary part of 0. */
export function eq_complex(a: Operand, b: Operand): boolean {
  const [x, y] = [complexOf(a), complexOf(b)]
  return x.re === y.re && x.im === y.im
}

export function ne_complex(a: Operand, b: Operand): boolean {
  return !eq_complex(a, b)
}

/** The size of a complex number. */
export function abs_complex(a: Complex): number {
  return math.absOf(a)
}

/** The angle in -pi..pi. */
export function angle_complex(a: Complex): number {
  return math.angleOf(a)
}

export {
  acos as acos_complex,
  acosh as acosh_complex,
  asin as asin_complex,
  asinh as asinh_complex,
  atan as atan_complex,
  atanh as atanh_complex,
  cos as cos_complex,
  cosh as cosh_complex,
  exp as exp_complex,
  log as log_complex,
  log10 as log10_complex,
  sin as sin_complex,
  sinh as sinh_complex,
  sqrt as sqrt_complex,
  tan as tan_complex,
  tanh as tanh_complex,
} from './support/complex-math.js'

/** Logarithm of `a` to the base `b`. A negative real number has none. */
export function log_base_complex(a: Operand, b: Operand): Complex {
  const logarithm = a instanceof Complex ? math.log(a) : new Complex(Math.log(Number(a)), 0)
  if (b instanceof Complex) return math.quotient(logarithm, math.log(b))
  const divisor = Math.log(Number(b))
  return new Complex(logarithm.re / divisor, logarithm.im / divisor)
}

export function isnan_complex(a: Complex): boolean {
  return Number.isNaN(a.re) || Number.isNaN(a.im)
}

export function isinf_complex(a: Complex): boolean {
  return Math.abs(a.re) === Infinity || Math.abs(a.im) === Infinity
}

export function isfinite_complex(a: Complex): boolean {
  return Number.isFinite(a.re) && Number.isFinite(a.im)
}

/** The number of size `a` and angle `b`. */
export function polar(a: Real, b: Real): Complex {
  return math.polarOf(Number(a), Number(b))
}

/** Throws INVALID_DTYPE for complex arguments. */
export function polar_Scalar(a: AnyScalar, b: AnyScalar): Complex {
  return math.polarOf(Number(notComplex(a)), Number(notComplex(b)))
}

export function list_sum_complex(self: Value[]): Complex {
  return self.reduce<Complex>((sum, z) => add_complex(sum, z instanceof Complex ? z : floatOf(z)), new Complex(0, 0))
}

type Part = Tensor | boolean | number

/** A number or the element of a one-element tensor, which must be real, as a part. */
function partOf(x: Part): number {
  return Number(typeof x === 'object' ? itemOf(x) : x)
}

/** complex(x, y) of floats, bools and one-element tensors. */
export function complex_of_parts(x: Part, y: Part): Complex {
  return new Complex(partOf(x), partOf(y))
}

// ints are taken with 32 bits, as in PyTorch

export function complex_of_ints(x: Int, y: Int): Complex {
  return new Complex(wrapInt32(x), wrapInt32(y))
}

export function complex_of_int_first(x: Int, y: Part): Complex {
  return new Complex(wrapInt32(x), partOf(y))
}

export function complex_of_int_second(x: Part, y: Int): Complex {
  return new Complex(partOf(x), wrapInt32(y))
}

export function complex_of_scalar(a: AnyScalar): Complex {
  return a instanceof Complex ? a : new Complex(Number(a), 0)
}

/** A tensor without dimensions that is given for a complex argument. */
export function complex_implicit(a: Tensor): Complex {
  check(a.dim === 0, () => `expected a tensor without dimensions as a number, found shape [${a.shape.join(', ')}]`)
  return complex_of_scalar(anyItemOf(a))
}
