import type { DType } from './dtype.js'
import { combine, type Operand, scalarType } from './promote.js'
import { promoteTypes } from './promote-types.js'
import { Tensor } from './tensor.js'
import * as features from '../features.js'
import { absent } from '../error.js'

/** promote([a, b]) without the list. */
export function promotePair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor && b instanceof Tensor && a.type === b.type) return a.type
  if (!features.promotion) throw absent('an operator on different dtypes, or on a tensor and a number')
  return promotedPair(a, b)
}

function promotedPair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor) {
    if (b instanceof Tensor) {
      if (a.shape.length > 0 === b.shape.length > 0) return promoteTypes(a.type, b.type)
      return (a.shape.length > 0 ? combine(a.type, b.type) : combine(b.type, a.type)) as DType
    }
    return combine(a.type, scalarType(b)) as DType
  }
  if (b instanceof Tensor) return combine(b.type, scalarType(a)) as DType
  return promoteTypes(scalarType(a), scalarType(b))
}
