import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, holdsComplex, isFloating } from '../../tensor/dtype.js'
import { checkInRange, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { resizeOut } from '../../tensor/out.js'
import type { Tensor } from '../../tensor/tensor.js'
import { complexFunction } from './complex-functions.js'
import { laidOutLike } from '../support/copy.js'
import { clamp_out } from './clamp.js'
import { checkPlain, checkSameType, computeFor, notFor, runUnary } from './support/elementwise.js'
import { copiedInto, isOfOther } from './support/given-out.js'

/** Activation functions of neural networks, element by element. Most take floating-point tensors only. */

const ActivationOp = kernels.ActivationOp

export function floating(name: string, op: number, self: Tensor, out: Tensor | undefined, p0 = 0, p1 = 0, p2 = 0): Tensor {
  if (!isFloating(self.type)) notFor(name, self.type)
  checkSameType(name, out, self.type)
  return runUnary(kernels.activation, op, self, self.type, computeFor(self.type), out, p0, p1, p2)
}

export function relu_out(self: Tensor, out?: Tensor): Tensor {
  if (isOfOther(out, self.type)) return copiedInto(out, relu_out(self))
  checkPlain('relu', self)
  if (self.type === DType.bool) notFor('relu', self.type)
  // the variant is one that PyTorch derives
  if (out !== undefined && out !== self) resizeOut(out, self.shape)
  return runUnary(kernels.activation, ActivationOp.relu, self, self.type, computeFor(self.type), out)
}

/** `approximate` is 'none' (by erf) or 'tanh'. */
export function gelu_out(self: Tensor, approximate: string, out?: Tensor): Tensor {
  check(approximate === 'none' || approximate === 'tanh', () => `gelu expects approximate 'none' or 'tanh', found '${approximate}'`)
  return floating('gelu', approximate === 'none' ? ActivationOp.gelu : ActivationOp.gelu_tanh, self, out)
}

/** x * sigmoid(x) */
export function silu_out(self: Tensor, out?: Tensor): Tensor {
  if (holdsComplex(self)) return complexFunction(kernels.ComplexOp.silu, self, out)
  return floating('silu', ActivationOp.silu, self, out)
}

/** x * relu6(x + 3) / 6 */
export function hardswish_out(self: Tensor, out?: Tensor): Tensor {
  return floating('hardswish', ActivationOp.hardswish, self, out)
}

/** relu6(x + 3) / 6 */
export function hardsigmoid_out(self: Tensor, out?: Tensor): Tensor {
  return floating('hardsigmoid', ActivationOp.hardsigmoid, self, out)
}

/** A new result has the strides of a copy of `self`. */
export function likeCopy(result: Tensor, self: Tensor, out: Tensor | undefined): Tensor {
  return out === undefined ? laidOutLike(result, self) : result
}

/** clamp that keeps the dtype. */
export function hardtanh_out(self: Tensor, min: Scalar, max: Scalar, out?: Tensor): Tensor {
  checkPlain('hardtanh', self)
  checkSameType('hardtanh', out, self.type)
  if (self.type === DType.bool) notFor('hardtanh', self.type)
  if (self.type === DType.uint8) {
    const lowest = Math.min(Math.trunc(scalarToNumber(min)), Math.trunc(scalarToNumber(max)))
    check(lowest >= 0, () => 'hardtanh with a negative bound is not for unsigned tensors')
  }
  if (self.type !== DType.uint8) {
    checkInRange(self.type, min)
    checkInRange(self.type, max)
  }
  if (isFloating(self.type)) return likeCopy(clamp_out(self, min, max, out), self, out)
  const bounds = [Math.trunc(scalarToNumber(min)), Math.trunc(scalarToNumber(max))] as const
  const result = runUnary(kernels.activation, ActivationOp.clamp, self, self.type, computeFor(self.type), out, bounds[0], bounds[1])
  return likeCopy(result, self, out)
}
