import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { type Operand, promote } from '../../tensor/promote.js'
import { Tensor } from '../../tensor/tensor.js'
import { notFor, runBinary, runTernary } from './support/elementwise.js'
import { clamp_out, filledWithNaN, isNaNScalar } from './clamp.js'

const BinaryOp = kernels.BinaryOp
const TernaryOp = kernels.TernaryOp

export function clamp_tensor_out(self: Tensor, min: Tensor | null, max: Tensor | null, out?: Tensor): Tensor {
  if (min !== null && max !== null) {
    const common = promote([self, min, max])
    if (common === DType.bool) notFor('clamp', common)
    return runTernary(TernaryOp.clamp, self, min, max, common, out)
  }
  if (min !== null) return clamp_min_out(self, min, out)
  check(max !== null, () => 'clamp expects at least one of min and max')
  return clamp_max_out(self, max, out)
}

export function clamp_min_out(self: Tensor, min: Operand, out?: Tensor): Tensor {
  if (!(min instanceof Tensor)) return isNaNScalar(min) ? filledWithNaN(self, promote([self, min]), out) : clamp_out(self, min, null, out)
  const common = promote([self, min])
  return runBinary(BinaryOp.maximum, self, min, common, common, out)
}

export function clamp_max_out(self: Tensor, max: Operand, out?: Tensor): Tensor {
  if (!(max instanceof Tensor)) return isNaNScalar(max) ? filledWithNaN(self, promote([self, max]), out) : clamp_out(self, null, max, out)
  const common = promote([self, max])
  return runBinary(BinaryOp.minimum, self, max, common, common, out)
}
