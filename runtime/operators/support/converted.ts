import { DType, isFloating, itemSize } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import type { Tensor } from '../../tensor/tensor.js'
import { runCopy } from './run-copy.js'

/** A copy of another dtype. */
export function converted(t: Tensor, type: DType): Tensor {
  const copy = emptyLike(t, type)
  runCopy(copy, t)
  return copy
}

/** A kernel that works for `common` reads elements of `type` as conversion to `common` would give them. */
export function isHeld(type: DType, common: DType): boolean {
  if (common === DType.float32 || common === DType.float64 || common === DType.int64 || type === DType.bool) return true
  return !isFloating(common) && !isFloating(type) && itemSize(type) < itemSize(common)
}
