import { atan2_out } from './binary-functions.js'
import { partOf } from '../../tensor/complex.js'
import * as kernels from '../../native/generated/kernels.js'
import { isComplex } from '../../tensor/dtype.js'
import { emptyLike, resultTensor } from '../../tensor/iterator.js'
import { toFloating } from '../../tensor/promote.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkPlain, computeFor, runUnary } from './support/elementwise.js'
import { analytic } from './support/unary.js'

const UnaryOp = kernels.UnaryOp
const ComplexOp = kernels.ComplexOp

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
  // PyTorch multiplies with a tensor that has no dimensions, into a result that lies as a copy would
  const result = out === undefined ? emptyLike(self, type) : resultTensor(out, self.shape, type, [self, factor])
  return runUnary(kernels.unary, UnaryOp.scale, self, type, computeFor(type), result, factor)
}
