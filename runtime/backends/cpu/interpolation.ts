import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { type Operand, promote } from '../../tensor/promote.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { notFor, runTernary } from './support/elementwise.js'

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
