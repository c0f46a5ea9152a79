import { complexFunction } from '../complex-functions.js'
import { logical_or_out } from '../logical.js'
import { partOf } from '../../../tensor/complex.js'
import { DType, holdsComplex, isComplex, isFloating } from '../../../tensor/dtype.js'
import * as kernels from '../../../native/generated/kernels.js'
import { resultTensor } from '../../../tensor/iterator.js'
import { toFloating } from '../../../tensor/promote.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { cloneOf, copyInto } from '../../support/copy.js'
import { writeOut } from '../../support/write-out.js'
import { checkPlain, checkSameType, computeFor, notFor, runUnary, type UnaryKernel } from './elementwise.js'
import { fillScalar } from '../../support/fill.js'

/** Functions of one tensor, element by element. `out` as in every structured operator: none, `self` (in place), or a result. */
type Unary = (self: Tensor, out?: Tensor) => Tensor

/** A function on the reals: integers and bools give float32. */
export function real(name: string, kernel: UnaryKernel, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    const type = toFloating(self.type)
    return runUnary(kernel, op, self, type, computeFor(type), out)
  }
}

/** A function on the reals and the complex numbers. */
export function analytic(name: string, op: number, complexOp: number): Unary {
  const ofReals = real(name, kernels.unary, op)
  return (self, out) => (holdsComplex(self) ? complexFunction(complexOp, self, out) : ofReals(self, out))
}

/** A function that keeps the dtype; bool tensors are an error where `bool` is false. */
export function keeping(name: string, op: number, bool: boolean): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (!bool && self.type === DType.bool) notFor(name, self.type)
    checkSameType(name, out, self.type)
    return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
  }
}

/** A rounding function: integers are what they are. */
export function rounding(name: string, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (self.type === DType.bool) notFor(name, self.type)
    checkSameType(name, out, self.type)
    if (!isFloating(self.type)) return copied(self, out)
    return runUnary(kernels.unary, op, self, self.type, computeFor(self.type), out)
  }
}

/** A question about floating-point values: integers answer false. */
export function asking(name: string, op: number): Unary {
  return (self, out) => {
    checkPlain(name, self)
    if (out !== self) checkSameType(name, out, DType.bool)
    if (isFloating(self.type)) return runUnary(kernels.unary, op, self, DType.bool, computeFor(self.type), out)
    const result = resultTensor(out, self.shape, DType.bool, [self])
    fillScalar(result, false)
    return result
  }
}

/** The same, asked about either part of complex numbers. */
export function askingEither(name: string, op: number): Unary {
  const ask = asking(name, op)
  return (self, out) => (isComplex(self.type) ? writeOut(logical_or_out(ask(partOf(self, 0)), ask(partOf(self, 1))), out) : ask(self, out))
}

/** self as it is, where an operator has nothing to do for its dtype. */
export function copied(self: Tensor, out: Tensor | undefined): Tensor {
  if (out === undefined) return cloneOf(self)
  const result = resultTensor(out, self.shape, self.type, [self])
  copyInto(result, self)
  return result
}
