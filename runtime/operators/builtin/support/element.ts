import { bfloat16ToNumber, halfToNumber, numberToBfloat16, numberToHalf } from '../../../tensor/half.js'
import { DType } from '../../../tensor/dtype.js'
import { Float, type Int, toInt } from '../../../tensor/scalar.js'
import type { Value } from '../../../tensor/value.js'
import { intFromDouble } from './integer.js'

/* Conversion of single elements, as C casts convert them on x86. */

/** NaN as float16, whatever the sign of the float64. */
const HALF_NAN = 0x7e00

/** The raw element of this dtype for an int64: integers wrap around. */
export function elementOfInt(type: DType, x: Int): number | bigint {
  if (type === DType.int64) return BigInt(x)
  if (type <= DType.int32) return Number(BigInt.asIntN(32, BigInt(x))) // typed arrays take the lowest bits
  return elementOfFloat(type, Number(x))
}

/** The raw element of this dtype for a float32: truncated for integers, their least value standing for what does not fit. */
export function elementOfFloat(type: DType, x: number): number | bigint {
  switch (type) {
    case DType.bool:
      return x !== 0 ? 1 : 0
    case DType.int64:
      return BigInt(intFromDouble(x))
    case DType.float16:
      return Number.isNaN(x) ? HALF_NAN : numberToHalf(x)
    case DType.bfloat16:
      return numberToBfloat16(x)
    case DType.float32:
    case DType.float64:
      return x
    default:
      return x >= -(2 ** 31) && x < 2 ** 31 ? Math.trunc(x) : -(2 ** 31)
  }
}

/** What turns a raw element of this dtype into a value. */
export function elementReader(type: DType): (raw: number | bigint) => Value {
  switch (type) {
    case DType.bool:
      return (raw) => Number(raw) !== 0
    case DType.int64:
      return (raw) => toInt(BigInt(raw))
    case DType.float16:
      return (raw) => new Float(halfToNumber(Number(raw)))
    case DType.bfloat16:
      return (raw) => new Float(bfloat16ToNumber(Number(raw)))
    case DType.float32:
    case DType.float64:
      return (raw) => new Float(Number(raw))
    default:
      return Number
  }
}
