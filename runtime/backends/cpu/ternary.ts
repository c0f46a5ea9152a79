import { check } from '../../error.js'
import { HOLDS_COMPLEX } from '../../held.js'
import * as kernels from '../../native/generated/kernels.js'
import { type AnyOperand, isComplexOperand, notComplex } from '../../tensor/complex-promote.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { type Operand, promote, promotePair } from '../../tensor/promote.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { complexWhere } from './complex-arithmetic.js'
import { checkSameType, notFor, runTernary } from './support/elementwise.js'

const TernaryOp = kernels.TernaryOp

/** self + value * tensor1 * tensor2 */
export function addcmul_out(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar, out?: Tensor): Tensor {
  const common = promote([self, tensor1, tensor2])
  if (common === DType.bool) notFor('addcmul', common)
  const factor = scalarToNumber(value)
  return runTernary(TernaryOp.addcmul, self, tensor1, tensor2, common, out, isFloating(common) ? factor : Math.trunc(factor))
}

/** self + value * tensor1 / tensor2; integers alone are an error. */
export function addcdiv_out(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar, out?: Tensor): Tensor {
  check(isFloating(tensor1.type) || isFloating(tensor2.type), () => 'addcdiv does not divide integers; make one of them floating-point')
  const common = promote([self, tensor1, tensor2])
  return runTernary(TernaryOp.addcdiv, self, tensor1, tensor2, common, out, scalarToNumber(value))
}

/** self + weight * (end - self); all tensors must have one floating dtype, but a weight without dimensions. */
export function lerp_out(self: Tensor, end: Tensor, weight: Operand, out?: Tensor): Tensor {
  check(self.type === end.type, () => `lerp expects tensors of one dtype, found ${self.dtype} and ${end.dtype}`)
  if (!isFloating(self.type)) notFor('lerp', self.type)
  if (!(weight instanceof Tensor)) return runTernary(TernaryOp.lerp, self, end, weight, self.type, out)
  const common = promote([self, end, weight])
  check(
    self.type === weight.type || (weight.dim === 0 && isFloating(common)),
    () => `lerp expects a weight of dtype ${self.dtype}, found ${weight.dtype}`,
  )
  return runTernary(TernaryOp.lerp, self, end, weight, common, out)
}

/** Elements of self where condition is true, of other elsewhere. */
export function where_out(condition: Tensor, self: AnyOperand, other: AnyOperand, out?: Tensor): Tensor {
  check(
    condition.type === DType.bool || condition.type === DType.uint8,
    () => `where expects a condition of dtype bool, found ${condition.dtype}`,
  )
  if (HOLDS_COMPLEX && (isComplexOperand(self) || isComplexOperand(other))) return complexWhere(condition, self, other, out)
  const [a, b] = [notComplex(self), notComplex(other)]
  const common = promotePair(a, b)
  checkSameType('where', out, common)
  return runTernary(TernaryOp.where, condition, a, b, common, out)
}

export function where(condition: Tensor, self: AnyOperand, other: AnyOperand): Tensor {
  return where_out(condition, self, other)
}
