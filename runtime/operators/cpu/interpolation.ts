import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, holdsComplex, isComplex, isFloating } from '../../tensor/dtype.js'
import { type AnyOperand, notComplex, promote } from '../../tensor/promote.js'
import { type AnyScalar, scalarToNumber } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { add_out, div_out, mul_out, realArithmetic } from './binary.js'
import { complexLerp } from './complex-arithmetic.js'
import { notFor, runTernary } from './support/elementwise.js'

const TernaryOp = kernels.TernaryOp

/** self + value * tensor1 * tensor2 */
export function addcmul_out(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: AnyScalar, out?: Tensor): Tensor {
  if ([self, tensor1, tensor2].some(holdsComplex)) return add_out(self, mul_out(tensor1, tensor2), value, out)
  const common = promote([self, tensor1, tensor2])
  if (common === DType.bool) notFor('addcmul', common)
  const factor = scalarToNumber(notComplex(value))
  return runTernary(TernaryOp.addcmul, self, tensor1, tensor2, common, out, isFloating(common) ? factor : Math.trunc(factor))
}

/** self + value * tensor1 / tensor2; integers alone are an error. */
export function addcdiv_out(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: AnyScalar, out?: Tensor): Tensor {
  check(
    [tensor1, tensor2].some((t) => isFloating(t.type) || isComplex(t.type)),
    () => 'addcdiv does not divide integers; make one of them floating-point',
  )
  if ([self, tensor1, tensor2].some(holdsComplex)) return add_out(self, div_out(tensor1, tensor2), value, out)
  const common = promote([self, tensor1, tensor2])
  return runTernary(TernaryOp.addcdiv, self, tensor1, tensor2, common, out, scalarToNumber(notComplex(value)))
}

/** self + weight * (end - self); all tensors must have one floating dtype, but a weight without dimensions. */
export function lerp_out(self: Tensor, end: Tensor, factor: AnyOperand, out?: Tensor): Tensor {
  check(self.type === end.type, () => `lerp expects tensors of one dtype, found ${self.dtype} and ${end.dtype}`)
  if (holdsComplex(self)) {
    check(
      !(factor instanceof Tensor) || factor.type === self.type || factor.dim === 0,
      () => `lerp expects a weight of dtype ${self.dtype}, found ${(factor as Tensor).dtype}`,
    )
    return complexLerp(realArithmetic, self, end, factor, out)
  }
  const weight = notComplex(factor)
  if (!isFloating(self.type)) notFor('lerp', self.type)
  if (!(weight instanceof Tensor)) return runTernary(TernaryOp.lerp, self, end, weight, self.type, out)
  const common = promote([self, end, weight])
  check(
    self.type === weight.type || (weight.dim === 0 && isFloating(common)),
    () => `lerp expects a weight of dtype ${self.dtype}, found ${weight.dtype}`,
  )
  return runTernary(TernaryOp.lerp, self, end, weight, common, out)
}
