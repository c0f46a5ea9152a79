import * as kernels from '../../native/generated/kernels.js'
import { anyComplex, type AnyOperand, notComplex, type Operand, promotePair } from '../../tensor/promote.js'
import { DType } from '../../tensor/dtype.js'
import { Tensor } from '../../tensor/tensor.js'
import { complexEqual } from './complex-arithmetic.js'
import { checkPlain, runBinary } from './support/elementwise.js'

/** Comparisons: bool results, any NaN unequal. A number is compared as the tensor's dtype holds it. */
function comparing(name: string, op: number): (self: Tensor, other: Operand, out?: Tensor) => Tensor {
  return (self, other, out) => {
    checkPlain(name, self)
    if (other instanceof Tensor) checkPlain(name, other)
    return runBinary(op, self, other, promotePair(self, other), DType.bool, out)
  }
}

/** Equality, which complex numbers have, too. */
function equality(name: string, op: number): (self: Tensor, other: AnyOperand, out?: Tensor) => Tensor {
  const ofReals = comparing(name, op)
  return (self, other, out) => {
    if (anyComplex(self, other)) return complexEqual(op === BinaryOp.ne, self, other, out)
    return ofReals(self, notComplex(other), out)
  }
}

const BinaryOp = kernels.BinaryOp

export const eq_out = equality('eq', BinaryOp.eq)
export const ne_out = equality('ne', BinaryOp.ne)
export const lt_out = comparing('lt', BinaryOp.lt)
export const le_out = comparing('le', BinaryOp.le)
export const gt_out = comparing('gt', BinaryOp.gt)
export const ge_out = comparing('ge', BinaryOp.ge)
