import { absent, check } from '../../../error.js'
import { BinaryOp } from '../../../native/generated/kernels.js'
import { DType, isFloating } from '../../../tensor/dtype.js'
import type { Operand } from '../../../tensor/promote.js'
import { Float, type Scalar, scalarToNumber } from '../../../tensor/scalar.js'
import { Tensor } from '../../../tensor/tensor.js'
import { noteUse } from '../../../traced-parts.js'
import { runBinary } from './elementwise.js'
import { scalarAs } from './number-fields.js'
import * as features from '../../../features.js'

/** a op alpha * b. float16 rounds the product as PyTorch does, other dtypes once. */
export function scaled(op: number, a: Operand, b: Operand, alpha: Scalar, common: DType, out: Tensor | undefined): Tensor {
  if (!features.scalars) throw absent('a sum with a factor', 'MISSING_KERNEL')
  const factor = factorOf(alpha, common)
  if (factor !== 1 && common === DType.float16) {
    const product =
      b instanceof Tensor ? runBinary(BinaryOp.mul, b, new Float(factor), common, common, undefined) : new Float(scalarToNumber(b) * factor)
    return runBinary(op, a, product, common, common, out)
  }
  return runBinary(op, a, b, common, common, out, factor)
}

/** The factor of the second operand: a float needs a floating result, a bool a bool one. */
function factorOf(alpha: Scalar, common: DType): number {
  check(common === DType.bool || typeof alpha !== 'boolean', () => 'a bool alpha is only for bool results')
  check(isFloating(common) || !(alpha instanceof Float), () => 'for integer inputs alpha must not be a float')
  noteUse('scalars')
  return scalarToNumber(scalarAs(alpha, common))
}
