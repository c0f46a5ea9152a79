import { absent, PtliteError } from '../error.js'
import { DType, dtypeName, isComplex, isFloating, isQuantized, itemSize } from './dtype.js'
import * as features from '../features.js'

/** The dtype both operands are converted to (c10::promoteTypes). Quantized dtypes only promote with themselves. */
export function promoteTypes(a: DType, b: DType): DType {
  if (isComplex(a) || isComplex(b))
    throw new PtliteError('UNSUPPORTED_DTYPE', 'complex tensors cannot be computed with; take their parts first')
  if (a === b) return a
  if (!features.promotion) throw absent(`an operator on ${dtypeName(a)} and ${dtypeName(b)}`)
  return commonType(a, b)
}

function commonType(a: DType, b: DType): DType {
  if (isQuantized(a) || isQuantized(b)) throw new PtliteError('INVALID_DTYPE', `no common dtype for ${dtypeName(a)} and ${dtypeName(b)}`)
  const [kindA, kindB] = [kindOf(a), kindOf(b)]
  if (kindA !== kindB) return kindA > kindB ? a : b
  const [sizeA, sizeB] = [itemSize(a), itemSize(b)]
  if (sizeA !== sizeB) return sizeA > sizeB ? a : b
  // neither holds all values of the other
  return kindA === FLOATING ? DType.float32 : DType.int16
}

const FLOATING = 2

/** bool < integers < floating point. */
function kindOf(dtype: DType): number {
  if (dtype === DType.bool) return 0
  return isFloating(dtype) ? FLOATING : 1
}
