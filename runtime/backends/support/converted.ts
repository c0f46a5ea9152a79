import type { DType } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import type { Tensor } from '../../tensor/tensor.js'
import { runCopy } from './run-copy.js'

/** A copy of another dtype. */
export function converted(t: Tensor, type: DType): Tensor {
  const copy = emptyLike(t, type)
  runCopy(copy, t)
  return copy
}
