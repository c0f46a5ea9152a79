import { PtliteError } from '../../error.js'
import { DType, dtypeName, isFloating } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from './copy.js'

/** The dtype that a kernel for float32 and float64 computes in for data of this dtype. */
export function computeType(type: DType): DType {
  return isHalf(type) ? DType.float32 : type
}

/** Throws INVALID_DTYPE unless the operator has a meaning for this dtype: a floating-point one. */
export function checkReal(operator: string, type: DType): void {
  if (!isFloating(type)) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating-point tensor, found ${dtypeName(type)}`)
}

/** As computeType, for operators that also take int64: its values are exact in float64 up to 2^53. */
export function computeTypeOrLong(type: DType): DType {
  return type === DType.int64 ? DType.float64 : computeType(type)
}

/** Row-major data of this dtype. */
export function dense(t: Tensor, type: DType): Tensor {
  return contiguousOf(castTo(t, type))
}

/** Address of row-major data of this dtype, 0 where there is no tensor. */
export function denseAddress(t: Tensor | null, type: DType): number {
  return t === null ? 0 : dense(t, type).address
}
