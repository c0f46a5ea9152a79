import { type AnyScalar, Complex, Float, type Int, type Scalar } from '../../tensor/scalar.js'
import * as complexMath from './support/complex-math.js'
import { checkedIntFromDouble } from './support/integer.js'
import * as real from './support/real.js'
import * as special from './support/gamma.js'
import type { Real } from './support/scalar.js'

/*
 * Functions of the math module. Each serves the int and the float overload; the `_Scalar` one takes a number whose
 * type is known only at run time, and rounds a real result to single precision, as PyTorch does.
 */

type Unary = (a: Real) => number
type ScalarUnary = (a: Scalar) => Scalar
type AnyUnary = (a: AnyScalar) => AnyScalar

const ofReal =
  (f: (x: number) => number): Unary =>
  (a) =>
    f(Number(a))
const ofScalar =
  (f: (x: number) => number): ScalarUnary =>
  (a) =>
    new Float(Math.fround(f(Number(a))))

/** `complex` is the function of complex numbers. */
const ofAny =
  (f: (x: number) => number, complex: (z: Complex) => AnyScalar): AnyUnary =>
  (a) =>
    a instanceof Complex ? complex(a) : new Float(Math.fround(f(Number(a))))

const angleOf = (x: number): number => (real.isNegative(x) ? Math.PI : 0)
const toDegrees = (x: number): number => x * (180 / Math.PI)
const toRadians = (x: number): number => x * (Math.PI / 180)

export const log = /* @__PURE__ */ ofReal(Math.log)
export const log1p = /* @__PURE__ */ ofReal(Math.log1p)
export const log10 = /* @__PURE__ */ ofReal(Math.log10)
export const sqrt = /* @__PURE__ */ ofReal(Math.sqrt)
export const exp = /* @__PURE__ */ ofReal(Math.exp)
export const expm1 = /* @__PURE__ */ ofReal(Math.expm1)
export const sin = /* @__PURE__ */ ofReal(Math.sin)
export const cos = /* @__PURE__ */ ofReal(Math.cos)
export const tan = /* @__PURE__ */ ofReal(Math.tan)
export const asin = /* @__PURE__ */ ofReal(Math.asin)
export const acos = /* @__PURE__ */ ofReal(Math.acos)
export const atan = /* @__PURE__ */ ofReal(Math.atan)
export const sinh = /* @__PURE__ */ ofReal(Math.sinh)
export const cosh = /* @__PURE__ */ ofReal(Math.cosh)
export const tanh = /* @__PURE__ */ ofReal(Math.tanh)
export const asinh = /* @__PURE__ */ ofReal(Math.asinh)
export const acosh = /* @__PURE__ */ ofReal(Math.acosh)
export const atanh = /* @__PURE__ */ ofReal(Math.atanh)
export const gamma = /* @__PURE__ */ ofReal(special.gamma)
/** Logarithm of the absolute value of the gamma function. */
export const lgamma = /* @__PURE__ */ ofReal(special.logGamma)
export const erf = /* @__PURE__ */ ofReal(special.erf)
export const erfc = /* @__PURE__ */ ofReal(special.erfc)
export const fabs = /* @__PURE__ */ ofReal(Math.abs)
/** To the nearest integer, ties to even. */
export const round = /* @__PURE__ */ ofReal(real.rint)
/** 0, or pi for a negative number or zero. */
export const angle = /* @__PURE__ */ ofReal(angleOf)
export const degrees = /* @__PURE__ */ ofReal(toDegrees)
export const radians = /* @__PURE__ */ ofReal(toRadians)

export const log_Scalar = /* @__PURE__ */ ofAny(Math.log, (z) => complexMath.log(z))
export const log1p_Scalar = /* @__PURE__ */ ofScalar(Math.log1p)
export const log10_Scalar = /* @__PURE__ */ ofAny(Math.log10, (z) => complexMath.log10(z))
export const sqrt_Scalar = /* @__PURE__ */ ofAny(Math.sqrt, (z) => complexMath.sqrt(z))
export const exp_Scalar = /* @__PURE__ */ ofAny(Math.exp, (z) => complexMath.exp(z))
export const expm1_Scalar = /* @__PURE__ */ ofScalar(Math.expm1)
export const sin_Scalar = /* @__PURE__ */ ofAny(Math.sin, (z) => complexMath.sin(z))
export const cos_Scalar = /* @__PURE__ */ ofAny(Math.cos, (z) => complexMath.cos(z))
export const tan_Scalar = /* @__PURE__ */ ofAny(Math.tan, (z) => complexMath.tan(z))
export const asin_Scalar = /* @__PURE__ */ ofAny(Math.asin, (z) => complexMath.asin(z))
export const acos_Scalar = /* @__PURE__ */ ofAny(Math.acos, (z) => complexMath.acos(z))
export const atan_Scalar = /* @__PURE__ */ ofAny(Math.atan, (z) => complexMath.atan(z))
export const sinh_Scalar = /* @__PURE__ */ ofAny(Math.sinh, (z) => complexMath.sinh(z))
export const cosh_Scalar = /* @__PURE__ */ ofAny(Math.cosh, (z) => complexMath.cosh(z))
export const tanh_Scalar = /* @__PURE__ */ ofAny(Math.tanh, (z) => complexMath.tanh(z))
export const asinh_Scalar = /* @__PURE__ */ ofAny(Math.asinh, (z) => complexMath.asinh(z))
export const acosh_Scalar = /* @__PURE__ */ ofAny(Math.acosh, (z) => complexMath.acosh(z))
export const atanh_Scalar = /* @__PURE__ */ ofAny(Math.atanh, (z) => complexMath.atanh(z))
export const gamma_Scalar = /* @__PURE__ */ ofScalar(special.gamma)
export const lgamma_Scalar = /* @__PURE__ */ ofScalar(special.logGamma)
export const erf_Scalar = /* @__PURE__ */ ofScalar(special.erf)
export const erfc_Scalar = /* @__PURE__ */ ofScalar(special.erfc)
export const fabs_Scalar = /* @__PURE__ */ ofScalar(Math.abs)
export const round_Scalar = /* @__PURE__ */ ofScalar(real.rint)
/** Of a complex number in single precision, as PyTorch has it. */
export const angle_Scalar = /* @__PURE__ */ ofAny(angleOf, (z) => new Float(Math.fround(complexMath.angleOf(z))))
export const degrees_Scalar = /* @__PURE__ */ ofScalar(toDegrees)
export const radians_Scalar = /* @__PURE__ */ ofScalar(toRadians)

/** Rounded down to an int, an int going through a double. Throws MODEL_ERROR where an int64 cannot hold it. */
export function floor(a: Real): Int {
  return checkedIntFromDouble(Math.floor(Number(a)))
}

export function floor_Scalar(a: Scalar): Scalar {
  return floor(Number(a))
}

/** Rounded up to an int, an int going through a double. Throws MODEL_ERROR where an int64 cannot hold it. */
export function ceil(a: Real): Int {
  return checkedIntFromDouble(Math.ceil(Number(a)))
}

export function ceil_Scalar(a: Scalar): Scalar {
  return ceil(Number(a))
}

/** Logarithm of `a` to the base `b`. */
export function log_base(a: Real, b: Real): number {
  return Math.log(Number(a)) / Math.log(Number(b))
}

export function log_base_Scalar(a: Scalar, b: Scalar): number {
  return Math.log(Number(a)) / Math.log(Number(b))
}

export function atan2(a: Real, b: Real): number {
  return Math.atan2(Number(a), Number(b))
}

export function atan2_Scalar(a: Scalar, b: Scalar): number {
  return Math.atan2(Number(a), Number(b))
}

/** C's fmod: the remainder has the sign of `a`. */
export function fmod(a: Real, b: Real): number {
  return Number(a) % Number(b)
}

export function fmod_Scalar(a: Scalar, b: Scalar): number {
  return Number(a) % Number(b)
}

/** IEEE 754 remainder: the quotient is rounded to the nearest integer. */
export function mathremainder(a: Real, b: Real): number {
  return real.ieeeRemainder(Number(a), Number(b))
}

export function mathremainder_Scalar(a: Scalar, b: Scalar): number {
  return real.ieeeRemainder(Number(a), Number(b))
}

export function copysign(a: Real, b: Real): number {
  return real.copySign(Number(a), Number(b))
}

export function copysign_Scalar(a: Scalar, b: Scalar): number {
  return real.copySign(Number(a), Number(b))
}

/** Fractional and whole part. */
export function modf(a: number): [number, number] {
  return real.modf(a)
}

/** Mantissa in [0.5, 1) and exponent. */
export function frexp(a: number): [number, Int] {
  const { mantissa, exponent } = real.frexp(a)
  return [mantissa, exponent]
}

export function ldexp(x: number, i: Int): number {
  // C takes an int: the count is cut to 32 bits
  return real.ldexp(x, Number(BigInt.asIntN(32, BigInt(i))))
}

export function isnan(a: number): boolean {
  return Number.isNaN(a)
}

export function isinf(a: number): boolean {
  return Math.abs(a) === Infinity
}

export function isfinite(a: number): boolean {
  return Number.isFinite(a)
}
