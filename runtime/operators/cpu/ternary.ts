import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { anyComplex, type AnyOperand, notComplex, promotePair } from '../../tensor/promote.js'
import { DType } from '../../tensor/dtype.js'
import { type Tensor } from '../../tensor/tensor.js'
import { complexWhere } from './complex-arithmetic.js'
import { checkSameType, runTernary } from './support/elementwise.js'

const TernaryOp = kernels.TernaryOp

/** Elements of self where condition is true, of other elsewhere. */
export function where_out(condition: Tensor, self: AnyOperand, other: AnyOperand, out?: Tensor): Tensor {
  check(
    condition.type === DType.bool || condition.type === DType.uint8,
    () => `where expects a condition of dtype bool, found ${condition.dtype}`,
  )
  if (anyComplex(self, other)) return complexWhere(condition, self, other, out)
  const [a, b] = [notComplex(self), notComplex(other)]
  const common = promotePair(a, b)
  checkSameType('where', out, common)
  return runTernary(TernaryOp.where, condition, a, b, common, out)
}

export function where(condition: Tensor, self: AnyOperand, other: AnyOperand): Tensor {
  return where_out(condition, self, other)
}
