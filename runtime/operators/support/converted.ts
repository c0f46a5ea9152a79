import { DType, dtypeName, isFloating, itemSize } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import type { Tensor } from '../../tensor/tensor.js'
import { runCopy } from './run-copy.js'
import * as features from '../../features.js'
import { absent } from '../../error.js'

/** A copy of another dtype. */
export function converted(t: Tensor, type: DType): Tensor {
  if (!features.promotion) throw absent(`the conversion of ${t.dtype} to ${dtypeName(type)}`)
  const copy = emptyLike(t, type)
  runCopy(copy, t)
  return copy
}

/** A kernel that works for `common` reads elements of `type` as conversion to `common` would give them. */
export function isHeld(type: DType, common: DType): boolean {
  if (!features.promotion) return false
  if (common === DType.float32 || common === DType.float64 || common === DType.int64 || type === DType.bool) return true
  return !isFloating(common) && !isFloating(type) && itemSize(type) < itemSize(common)
}
