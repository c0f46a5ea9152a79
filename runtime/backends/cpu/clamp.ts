import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { isFloating } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { type Operand, promote } from '../../tensor/promote.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { checkPlain, checkSameType, computeFor, runBinary, runTernary, runUnary } from './support/elementwise.js'
import { fillScalar } from './support/fill.js'

const { ActivationOp, BinaryOp, TernaryOp } = kernels

/** Moves elements into [min, max]; max wins where it is below min. A NaN among elements or bounds gives NaN. */
export function clamp_out(self: Tensor, min: Scalar | null, max: Scalar | null, out?: Tensor): Tensor {
  check(min !== null || max !== null, () => 'clamp expects at least one of min and max')
  checkPlain('clamp', self)
  const bounds = [min, max].filter((b): b is Scalar => b !== null)
  // bounds count by kind, with booleans as integers
  const type = promote([self, ...bounds.map((b) => (typeof b === 'boolean' ? Number(b) : b))])
  if (isFloating(type) && bounds.some((b) => Number.isNaN(scalarToNumber(b)))) {
    const result = resultTensor(out, self.shape, type, [self])
    fillScalar(result, new Float(NaN))
    return result
  }
  checkSameType('clamp', out, type)
  const compute = computeFor(type)
  const low = min === null ? 0 : scalarToNumber(min)
  const high = max === null ? 0 : scalarToNumber(max)
  if (max === null) return runUnary(kernels.activation, ActivationOp.clamp_min, self, type, compute, out, low)
  if (min === null) return runUnary(kernels.activation, ActivationOp.clamp_max, self, type, compute, out, high)
  return runUnary(kernels.activation, ActivationOp.clamp, self, type, compute, out, low, high)
}

export function clamp_tensor_out(self: Tensor, min: Tensor | null, max: Tensor | null, out?: Tensor): Tensor {
  if (min !== null && max !== null) {
    const common = promote([self, min, max])
    return runTernary(TernaryOp.clamp, self, min, max, common, out)
  }
  if (min !== null) return clamp_min_out(self, min, out)
  check(max !== null, () => 'clamp expects at least one of min and max')
  return clamp_max_out(self, max, out)
}

export function clamp_min_out(self: Tensor, min: Operand, out?: Tensor): Tensor {
  if (!(min instanceof Tensor)) return clamp_out(self, min, null, out)
  const common = promote([self, min])
  return runBinary(BinaryOp.maximum, self, min, common, common, out)
}

export function clamp_max_out(self: Tensor, max: Operand, out?: Tensor): Tensor {
  if (!(max instanceof Tensor)) return clamp_out(self, null, max, out)
  const common = promote([self, max])
  return runBinary(BinaryOp.minimum, self, max, common, common, out)
}
