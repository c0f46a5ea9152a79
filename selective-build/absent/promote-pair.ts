import { absent } from '../../runtime/error.js'
import type { DType } from '../../runtime/tensor/dtype.js'
import type { Operand } from '../../runtime/tensor/promote.js'
import { Tensor } from '../../runtime/tensor/tensor.js'

export function promotePair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor && b instanceof Tensor && a.type === b.type) return a.type
  throw absent('an operator on different dtypes, or on a tensor and a number')
}
