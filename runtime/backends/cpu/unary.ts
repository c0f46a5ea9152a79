import { atan2_out, div_out, hypot_out, maximum_out } from './binary.js'
import { eq_out } from './comparison.js'
import { complexFunction } from './complex-functions.js'
import { logical_or_out } from './logical.js'
import { HOLDS_COMPLEX } from '../../held.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isComplex, isFloating, isIntegral } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { toFloating } from '../../tensor/promote.js'
import { Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf, copyInto } from '../support/copy.js'
import { deliver } from '../support/deliver.js'
import { checkPlain, checkSameType, computeFor, notFor, runBinary, runUnary, type UnaryKernel } from './support/elementwise.js'
import { fillScalar } from '../support/fill.js'
import { denseTruth } from './support/truth.js'

/** Functions of one tensor, element by element. `out` as in every structured operator: none, `self` (in place), or a result. */
type Unary = (self: Tensor, out?: Tensor) => Tensor

const UnaryOp = kernels.UnaryOp
const ComplexOp = kernels.ComplexOp
const SpecialOp = kernels.SpecialOp

/** A function on the reals: integers and bools give float32. */
function real(name: string, kernel: UnaryKernel, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    const type = toFloating(self.type)
    return runUnary(kernel, op, self, type, computeFor(type), out)
  }
}

/** A function on the reals and the complex numbers. */
function analytic(name: string, op: number, complexOp: number): Unary {
  const ofReals = real(name, kernels.unary, op)
  return (self, out) => (HOLDS_COMPLEX && isComplex(self.type) ? complexFunction(complexOp, self, out) : ofReals(self, out))
}

/** A function that keeps the dtype; bool tensors are an error where `bool` is false. */
function keeping(name: string, op: number, bool: boolean): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (!bool && self.type === DType.bool) notFor(name, self.type)
    checkSameType(name, out, self.type)
    return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
  }
}

/** A rounding function: integers are what they are. */
function rounding(name: string, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (self.type === DType.bool) notFor(name, self.type)
    checkSameType(name, out, self.type)
    if (!isFloating(self.type)) return copied(self, out)
    return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
  }
}

/** A question about floating-point values: integers answer false. */
function asking(name: string, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (out !== self) checkSameType(name, out, DType.bool)
    if (isFloating(self.type)) return runUnary(kernels.unary, op, self, DType.bool, computeFor(self.type), out)
    const result = resultTensor(out, self.shape, DType.bool, [self])
    fillScalar(result, false)
    return result
  }
}

/** The same, asked about either part of complex numbers. */
function askingEither(name: string, op: number): Unary {
  const ask = asking(name, op)
  return (self, out) => (isComplex(self.type) ? deliver(logical_or_out(ask(partOf(self, 0)), ask(partOf(self, 1))), out) : ask(self, out))
}

/** self as it is, where an operator has nothing to do for its dtype. */
function copied(self: Tensor, out: Tensor | undefined): Tensor {
  if (out === undefined) return cloneOf(self)
  const result = resultTensor(out, self.shape, self.type, [self])
  copyInto(result, self)
  return result
}

export const acos_out = analytic('acos', UnaryOp.acos, ComplexOp.acos)
export const acosh_out = analytic('acosh', UnaryOp.acosh, ComplexOp.acosh)
export const asin_out = analytic('asin', UnaryOp.asin, ComplexOp.asin)
export const asinh_out = analytic('asinh', UnaryOp.asinh, ComplexOp.asinh)
export const atan_out = analytic('atan', UnaryOp.atan, ComplexOp.atan)
export const atanh_out = analytic('atanh', UnaryOp.atanh, ComplexOp.atanh)
export const cos_out = analytic('cos', UnaryOp.cos, ComplexOp.cos)
export const cosh_out = analytic('cosh', UnaryOp.cosh, ComplexOp.cosh)
export const sin_out = analytic('sin', UnaryOp.sin, ComplexOp.sin)
export const sinh_out = analytic('sinh', UnaryOp.sinh, ComplexOp.sinh)
export const tan_out = analytic('tan', UnaryOp.tan, ComplexOp.tan)
export const tanh_out = analytic('tanh', UnaryOp.tanh, ComplexOp.tanh)
export const erf_out = real('erf', kernels.unary, UnaryOp.erf)
export const erfc_out = real('erfc', kernels.unary, UnaryOp.erfc)
export const exp_out = analytic('exp', UnaryOp.exp, ComplexOp.exp)
export const exp2_out = analytic('exp2', UnaryOp.exp2, ComplexOp.exp2)
export const expm1_out = analytic('expm1', UnaryOp.expm1, ComplexOp.expm1)
export const log_out = analytic('log', UnaryOp.log, ComplexOp.log)
export const log2_out = analytic('log2', UnaryOp.log2, ComplexOp.log2)
export const log10_out = analytic('log10', UnaryOp.log10, ComplexOp.log10)
export const log1p_out = analytic('log1p', UnaryOp.log1p, ComplexOp.log1p)
export const sqrt_out = analytic('sqrt', UnaryOp.sqrt, ComplexOp.sqrt)
export const rsqrt_out = analytic('rsqrt', UnaryOp.rsqrt, ComplexOp.rsqrt)
export const reciprocal_out = analytic('reciprocal', UnaryOp.reciprocal, ComplexOp.reciprocal)
export const sigmoid_out = analytic('sigmoid', UnaryOp.sigmoid, ComplexOp.sigmoid)
export const sinc_out = real('sinc', kernels.unary, UnaryOp.sinc)
export const erfinv_out = real('erfinv', kernels.special, SpecialOp.erfinv)
export const lgamma_out = real('lgamma', kernels.special, SpecialOp.lgamma)
export const digamma_out = real('digamma', kernels.special, SpecialOp.digamma)
export const i0_out = real('i0', kernels.special, SpecialOp.i0)

export const special_entr_out = real('special_entr', kernels.special, SpecialOp.entr)
export const special_erfcx_out = real('special_erfcx', kernels.special, SpecialOp.erfcx)
export const special_i0e_out = real('special_i0e', kernels.special, SpecialOp.i0e)
export const special_i1_out = real('special_i1', kernels.special, SpecialOp.i1)
export const special_i1e_out = real('special_i1e', kernels.special, SpecialOp.i1e)
export const special_ndtr_out = real('special_ndtr', kernels.special, SpecialOp.ndtr)
export const special_log_ndtr_out = real('special_log_ndtr', kernels.special, SpecialOp.log_ndtr)
export const special_ndtri_out = real('special_ndtri', kernels.special, SpecialOp.ndtri)
export const special_bessel_j0_out = real('special_bessel_j0', kernels.special, SpecialOp.bessel_j0)
export const special_bessel_j1_out = real('special_bessel_j1', kernels.special, SpecialOp.bessel_j1)
export const special_bessel_y0_out = real('special_bessel_y0', kernels.special, SpecialOp.bessel_y0)
export const special_bessel_y1_out = real('special_bessel_y1', kernels.special, SpecialOp.bessel_y1)
export const special_modified_bessel_k0_out = real('special_modified_bessel_k0', kernels.special, SpecialOp.k0)
export const special_modified_bessel_k1_out = real('special_modified_bessel_k1', kernels.special, SpecialOp.k1)
export const special_scaled_modified_bessel_k0_out = real('special_scaled_modified_bessel_k0', kernels.special, SpecialOp.k0e)
export const special_scaled_modified_bessel_k1_out = real('special_scaled_modified_bessel_k1', kernels.special, SpecialOp.k1e)
export const special_spherical_bessel_j0_out = real('special_spherical_bessel_j0', kernels.special, SpecialOp.spherical_bessel_j0)
/** The Airy function Ai; NaN at the infinities, as PyTorch has it. */
export const special_airy_ai_out = real('special_airy_ai', kernels.special, SpecialOp.airy_ai)

const realNeg = keeping('neg', UnaryOp.neg, false)

export function neg_out(self: Tensor, out?: Tensor): Tensor {
  if (!isComplex(self.type)) return realNeg(self, out)
  return deliver(viewAsComplex(realNeg(viewAsReal(self))), out)
}

const realAbs = keeping('abs', UnaryOp.abs, false)

/** torch.abs; of a complex tensor the magnitudes, which are real. */
export function abs_out(self: Tensor, out?: Tensor): Tensor {
  return isComplex(self.type) ? hypot_out(partOf(self, 0), partOf(self, 1), out) : realAbs(self, out)
}
export const sign_out = keeping('sign', UnaryOp.sign, true)

/** torch.sgn: sign, and of a complex tensor z / |z|, where that is 0 / 0 zero. */
export function sgn_out(self: Tensor, out?: Tensor): Tensor {
  if (!isComplex(self.type)) return sign_out(self, out)
  const size = abs_out(self)
  return deliver(div_out(self, maximum_out(size, eq_out(size, 0))), out)
}

export const floor_out = rounding('floor', UnaryOp.floor)
export const ceil_out = rounding('ceil', UnaryOp.ceil)
export const trunc_out = rounding('trunc', UnaryOp.trunc)
export const round_out = rounding('round', UnaryOp.round)

export const isnan = askingEither('isnan', UnaryOp.isnan)
export const isinf = askingEither('isinf', UnaryOp.isinf)
export const isposinf_out = asking('isposinf', UnaryOp.isposinf)
export const isneginf_out = asking('isneginf', UnaryOp.isneginf)

/** x^2; a bool tensor gives int64, as pow with an integer does. */
export function square_out(self: Tensor, out?: Tensor): Tensor {
  if (HOLDS_COMPLEX && isComplex(self.type)) return complexFunction(ComplexOp.square, self, out)
  checkPlain('square', self)
  const type = self.type === DType.bool ? DType.int64 : self.type
  if (self.type !== DType.bool) checkSameType('square', out, type)
  return runUnary(kernels.unary, UnaryOp.square, self, type, computeFor(type), out)
}

export function frac_out(self: Tensor, out?: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('frac', self.type)
  checkSameType('frac', out, self.type)
  return runUnary(kernels.unary, UnaryOp.frac, self, self.type, computeFor(self.type), out)
}

/** Real tensors are their own conjugates. */
export function conj_physical_out(self: Tensor, out?: Tensor): Tensor {
  checkSameType('conj_physical', out, self.type)
  return conjugated(copied(self, out))
}

export function _conj_physical(self: Tensor): Tensor {
  return conjugated(cloneOf(self))
}

/** In place. */
function conjugated(t: Tensor): Tensor {
  if (isComplex(t.type)) neg_out(partOf(t, 1), partOf(t, 1))
  return t
}

export function bitwise_not_out(self: Tensor, out?: Tensor): Tensor {
  if (!isIntegral(self.type, true)) notFor('bitwise_not', self.type)
  checkSameType('bitwise_not', out, self.type)
  const dense = denseTruth('not', self, null, out)
  if (dense !== null) return dense
  const op = self.type === DType.bool ? UnaryOp.logical_not : UnaryOp.bitwise_not
  return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
}

export function signbit_out(self: Tensor, out?: Tensor): Tensor {
  checkPlain('signbit', self)
  if (out !== self) checkSameType('signbit', out, DType.bool)
  return runUnary(kernels.unary, UnaryOp.signbit, self, DType.bool, computeFor(self.type), out)
}

/** pi for negative elements, 0 for others; NaN stays. */
export function angle_out(self: Tensor, out?: Tensor): Tensor {
  if (isComplex(self.type)) return atan2_out(partOf(self, 1), partOf(self, 0), out)
  checkPlain('angle', self)
  const type = toFloating(self.type)
  return runUnary(kernels.unary, UnaryOp.angle, self, type, computeFor(type), out)
}

export function deg2rad_out(self: Tensor, out?: Tensor): Tensor {
  return scaled('deg2rad', self, Math.PI / 180, out)
}

export function rad2deg_out(self: Tensor, out?: Tensor): Tensor {
  return scaled('rad2deg', self, 180 / Math.PI, out)
}

function scaled(name: string, self: Tensor, factor: number, out: Tensor | undefined): Tensor {
  checkPlain(name, self)
  const type = toFloating(self.type)
  return runUnary(kernels.unary, UnaryOp.scale, self, type, computeFor(type), out, factor)
}

/** To `decimals` places after the point, before it where negative; ties to even. */
export function round_decimals_out(self: Tensor, decimals: number, out?: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('round with decimals', self.type)
  checkSameType('round', out, self.type)
  if (decimals === 0) return round_out(self, out)
  if (self.type === DType.float16 || self.type === DType.bfloat16) return roundNarrow(self, decimals, out)
  const compute = computeFor(self.type)
  return runUnary(kernels.unary, UnaryOp.round_decimals, self, self.type, compute, out, 10 ** Math.abs(decimals), decimals < 0 ? 1 : 0)
}

/** In the 16-bit types every step is rounded to the type. */
function roundNarrow(self: Tensor, decimals: number, out: Tensor | undefined): Tensor {
  const { mul, div } = kernels.BinaryOp
  const factor = new Float(10 ** Math.abs(decimals))
  const moved = round_out(runBinary(decimals > 0 ? mul : div, self, factor, self.type, self.type, undefined))
  return runBinary(decimals > 0 ? div : mul, moved, factor, self.type, self.type, out)
}

/** log(x / (1 - x)), x first moved into [eps, 1 - eps]. */
export function logit_out(self: Tensor, eps: number | null, out?: Tensor): Tensor {
  checkPlain('logit', self)
  const type = toFloating(self.type)
  return runUnary(kernels.unary, UnaryOp.logit, self, type, computeFor(type), out, eps ?? -1)
}

const LARGEST: Partial<Record<DType, number>> = {
  [DType.float16]: 65504,
  [DType.bfloat16]: 3.3895313892515355e38,
  [DType.float32]: 3.4028234663852886e38,
  [DType.float64]: Number.MAX_VALUE,
}

/** Infinities become the largest and smallest finite numbers of the dtype where no other is given. */
export function nan_to_num_out(self: Tensor, nan: number | null, posinf: number | null, neginf: number | null, out?: Tensor): Tensor {
  checkPlain('nan_to_num', self)
  checkSameType('nan_to_num', out, self.type)
  const largest = LARGEST[self.type]
  if (largest === undefined) return copied(self, out)
  return runUnary(
    kernels.unary,
    UnaryOp.nan_to_num,
    self,
    self.type,
    computeFor(self.type),
    out,
    nan ?? 0,
    posinf ?? largest,
    neginf ?? -largest,
  )
}

/** The n-th derivative of digamma. */
export function polygamma_out(n: number, self: Tensor, out?: Tensor): Tensor {
  check(n >= 0, () => `polygamma expects an order of at least 0, found ${n}`)
  checkPlain('polygamma', self)
  const type = toFloating(self.type)
  return runUnary(kernels.special, SpecialOp.polygamma, self, type, computeFor(type), out, n)
}

export function polygamma_(self: Tensor, n: number): Tensor {
  return polygamma_out(n, self, self)
}

/** Dimensions of a multivariate gamma function: each is a pass over the tensor. */
const MOST_DIMENSIONS = 2 ** 16

/** log of the multivariate gamma function of dimension p. */
export function mvlgamma_out(self: Tensor, p: number, out?: Tensor): Tensor {
  check(p >= 1 && p <= MOST_DIMENSIONS, () => `mvlgamma expects p from 1 to ${MOST_DIMENSIONS}, found ${p}`)
  checkPlain('mvlgamma', self)
  if (self.type === DType.bool) notFor('mvlgamma', self.type)
  const type = toFloating(self.type)
  let sum = runUnary(kernels.special, SpecialOp.lgamma, self, type, computeFor(type), undefined)
  for (let j = 1; j < p; j++) {
    const shifted = runBinary(kernels.BinaryOp.add, self, new Float(-j / 2), type, type, undefined)
    const term = runUnary(kernels.special, SpecialOp.lgamma, shifted, type, computeFor(type), undefined)
    sum = runBinary(kernels.BinaryOp.add, sum, term, type, type, undefined)
  }
  return runBinary(kernels.BinaryOp.add, sum, new Float((p * (p - 1) * Math.log(Math.PI)) / 4), type, type, out)
}

/** Mantissas in [0.5, 1) and int32 exponents: self = mantissa * 2^exponent. */
export function frexp_out(self: Tensor, mantissa?: Tensor, exponent?: Tensor): [Tensor, Tensor] {
  if (!isFloating(self.type)) notFor('frexp', self.type)
  checkSameType('frexp', mantissa, self.type)
  checkSameType('frexp', exponent, DType.int32)
  const compute = computeFor(self.type)
  const exponents = runUnary(kernels.unary, UnaryOp.frexp_exponent, self, DType.int32, compute, exponent)
  return [runUnary(kernels.unary, UnaryOp.frexp_mantissa, self, self.type, compute, mantissa), exponents]
}
