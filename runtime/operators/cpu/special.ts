import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { toFloating } from '../../tensor/promote.js'
import { Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { laidOutInRows } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { checkPlain, computeFor, notFor, runBinary, runUnary } from './support/elementwise.js'
import { analytic, real } from './support/unary.js'

const UnaryOp = kernels.UnaryOp
const ComplexOp = kernels.ComplexOp

const SpecialOp = kernels.SpecialOp
export const erf_out = real('erf', kernels.unary, UnaryOp.erf)
export const erfc_out = real('erfc', kernels.unary, UnaryOp.erfc)
export const exp2_out = analytic('exp2', UnaryOp.exp2, ComplexOp.exp2)
export const expm1_out = analytic('expm1', UnaryOp.expm1, ComplexOp.expm1)
export const log2_out = analytic('log2', UnaryOp.log2, ComplexOp.log2)
export const log10_out = analytic('log10', UnaryOp.log10, ComplexOp.log10)
export const log1p_out = analytic('log1p', UnaryOp.log1p, ComplexOp.log1p)
export const sinc_out = analytic('sinc', UnaryOp.sinc, ComplexOp.sinc)
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

/** log(x / (1 - x)), x first moved into [eps, 1 - eps]. */
export function logit_out(self: Tensor, eps: number | null, out?: Tensor): Tensor {
  checkPlain('logit', self)
  const type = toFloating(self.type)
  return runUnary(kernels.unary, UnaryOp.logit, self, type, computeFor(type), out, eps ?? -1)
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
const MAX_DIMENSIONS = 2 ** 16

/** log of the multivariate gamma function of dimension p. */
export function mvlgamma_out(self: Tensor, p: number, out?: Tensor): Tensor {
  check(p >= 1 && p <= MAX_DIMENSIONS, () => `mvlgamma expects p from 1 to ${MAX_DIMENSIONS}, found ${p}`)
  checkPlain('mvlgamma', self)
  if (self.type === DType.bool) notFor('mvlgamma', self.type)
  const type = toFloating(self.type)
  let sum = runUnary(kernels.special, SpecialOp.lgamma, self, type, computeFor(type), undefined)
  for (let j = 1; j < p; j++) {
    const shifted = runBinary(kernels.BinaryOp.add, self, new Float(-j / 2), type, type, undefined)
    const term = runUnary(kernels.special, SpecialOp.lgamma, shifted, type, computeFor(type), undefined)
    sum = runBinary(kernels.BinaryOp.add, sum, term, type, type, undefined)
  }
  const result = runBinary(kernels.BinaryOp.add, sum, new Float((p * (p - 1) * Math.log(Math.PI)) / 4), type, type, undefined)
  // PyTorch's is a sum over a dimension
  return writeOut(laidOutInRows(result), out)
}
