import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { promote } from '../../tensor/promote.js'
import { checkInRange, Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkPlain, checkSameType, computeFor, runUnary } from './support/elementwise.js'
import { fillScalar } from '../support/fill.js'

const ActivationOp = kernels.ActivationOp

/** Moves elements into [min, max]; max wins where it is below min. A NaN element stays; of two bounds a NaN gives NaN. */
export function clamp_out(self: Tensor, min: Scalar | null, max: Scalar | null, out?: Tensor): Tensor {
  check(min !== null || max !== null, () => 'clamp expects at least one of min and max')
  checkPlain('clamp', self)
  const bounds = [min, max].filter((b): b is Scalar => b !== null)
  // bounds count by kind, with booleans as integers
  const type = promote([self, ...bounds.map((b) => (typeof b === 'boolean' ? Number(b) : b))])
  if (min !== null && max !== null && bounds.some(isNaNScalar)) return filledWithNaN(self, type, out)
  checkSameType('clamp', out, type)
  const compute = computeFor(type)
  for (const bound of bounds) checkInRange(type, bound)
  const low = min === null ? 0 : boundIn(min, type)
  const high = max === null ? 0 : boundIn(max, type)
  if (max === null) return runUnary(kernels.activation, ActivationOp.clamp_min, self, type, compute, out, low)
  if (min === null) return runUnary(kernels.activation, ActivationOp.clamp_max, self, type, compute, out, high)
  return runUnary(kernels.activation, ActivationOp.clamp, self, type, compute, out, low, high)
}

export function isNaNScalar(bound: Scalar): boolean {
  return Number.isNaN(scalarToNumber(bound))
}

export function filledWithNaN(self: Tensor, type: DType, out: Tensor | undefined): Tensor {
  const result = resultTensor(out, self.shape, type, [self])
  fillScalar(result, new Float(NaN))
  return result
}

/** A bound as the dtype holds it: a negative integer wraps around in uint8. */
function boundIn(bound: Scalar, type: DType): number {
  return type === DType.uint8 ? scalarToNumber(bound) & 255 : scalarToNumber(bound)
}
