import { DType, isFloating } from '../../../tensor/dtype.js'
import { halfValue, isHalf } from '../../../tensor/half.js'
import { Float, longBits, type Scalar, scalarBits, scalarToNumber } from '../../../tensor/scalar.js'
import { noteUse } from '../../../traced-parts.js'
import * as features from '../../../features.js'
import { absent } from '../../../error.js'

/** How a scalar operand travels: as a double, or as the words of an int64. */
export interface ScalarFields {
  readonly scalar: number
  readonly low: number
  readonly high: number
}

/** The fields of a number beside tensors of a dtype. */
export function numberFields(operand: Scalar, common: DType): ScalarFields {
  if (!features.scalars) throw absent('an operator on a tensor and a number', 'MISSING_KERNEL')
  noteUse('scalars')
  const value = scalarAs(operand, common)
  if (isFloating(common)) return { scalar: scalarToNumber(value), low: 0, high: 0 }
  const [low, high] = longBits(value)
  return { scalar: 0, low, high }
}

/** A scalar operand as its dtype holds it, so that an integer beyond an int8's range wraps before it is compared. */
export function scalarAs(value: Scalar, type: DType): Scalar {
  if (isHalf(type)) return new Float(halfValue(scalarBits(type, value)[0], type))
  if (isFloating(type)) return value
  if (type === DType.bool) return scalarToNumber(value) !== 0
  const [low, high] = longBits(value)
  switch (type) {
    case DType.uint8:
      return low & 0xff
    case DType.int8:
      return (low << 24) >> 24
    case DType.int16:
      return (low << 16) >> 16
    case DType.int32:
      return low
    default:
      return high === low >> 31 ? low : value
  }
}
