import { hypot_out } from './binary-functions.js'
import { complexFunction } from './complex-functions.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { DType, holdsComplex, isComplex, isIntegral } from '../../tensor/dtype.js'
import * as kernels from '../../native/generated/kernels.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOut } from '../support/write-out.js'
import { checkPlain, checkSameType, computeFor, notFor, runUnary } from './support/elementwise.js'
import { denseTruth } from './support/truth.js'
import { analytic, askingEither, keeping, rounding } from './support/unary.js'

const UnaryOp = kernels.UnaryOp
const ComplexOp = kernels.ComplexOp
export const tanh_out = analytic('tanh', UnaryOp.tanh, ComplexOp.tanh)
export const exp_out = analytic('exp', UnaryOp.exp, ComplexOp.exp)
export const log_out = analytic('log', UnaryOp.log, ComplexOp.log)
export const sqrt_out = analytic('sqrt', UnaryOp.sqrt, ComplexOp.sqrt)
export const rsqrt_out = analytic('rsqrt', UnaryOp.rsqrt, ComplexOp.rsqrt)
export const reciprocal_out = analytic('reciprocal', UnaryOp.reciprocal, ComplexOp.reciprocal)
export const sigmoid_out = analytic('sigmoid', UnaryOp.sigmoid, ComplexOp.sigmoid)

const realNeg = keeping('neg', UnaryOp.neg, false)

export function neg_out(self: Tensor, out?: Tensor): Tensor {
  if (!isComplex(self.type)) return realNeg(self, out)
  return writeOut(viewAsComplex(realNeg(viewAsReal(self))), out)
}

const realAbs = keeping('abs', UnaryOp.abs, false)

/** torch.abs; of a complex tensor the magnitudes, which are real. */
export function abs_out(self: Tensor, out?: Tensor): Tensor {
  return isComplex(self.type) ? hypot_out(partOf(self, 0), partOf(self, 1), out) : realAbs(self, out)
}
export const round_out = rounding('round', UnaryOp.round)

export const isnan = askingEither('isnan', UnaryOp.isnan)

/** x^2; a bool tensor gives int64, as pow with an integer does. */
export function square_out(self: Tensor, out?: Tensor): Tensor {
  if (holdsComplex(self)) return complexFunction(ComplexOp.square, self, out)
  checkPlain('square', self)
  const type = self.type === DType.bool ? DType.int64 : self.type
  if (self.type !== DType.bool) checkSameType('square', out, type)
  return runUnary(kernels.unary, UnaryOp.square, self, type, computeFor(type), out)
}

export function bitwise_not_out(self: Tensor, out?: Tensor): Tensor {
  if (!isIntegral(self.type, true)) notFor('bitwise_not', self.type)
  checkSameType('bitwise_not', out, self.type)
  const dense = denseTruth('not', self, null, out)
  if (dense !== null) return dense
  const op = self.type === DType.bool ? UnaryOp.logical_not : UnaryOp.bitwise_not
  return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
}
