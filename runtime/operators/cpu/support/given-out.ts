import type { DType } from '../../../tensor/dtype.js'
import { resizeOut } from '../../../tensor/out.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/observe.js'
import { copyInto } from '../../support/copy.js'
import * as features from '../../../features.js'

/** The tensor that an elementwise operator is given for its result, if any. */

/** It is of another dtype than the result. */
export function isOfOther(out: Tensor | undefined, type: DType): out is Tensor {
  return features.writes && out !== undefined && out.type !== type
}

/** It is the operand, whose dtype the result has. */
export function isInPlace(out: Tensor, self: Tensor, type: DType): boolean {
  return features.writes && out === self && type === self.type
}

/** A new tensor, or the one that is written in place. */
export function newOrGiven(out: Tensor | undefined, shape: readonly number[], type: DType): Tensor {
  return features.writes && out !== undefined ? out : empty(shape, type)
}

/** The result of a kernel that has run: a capture compares a storage's version with the one it had at the launch. */
export function written(result: Tensor, out: Tensor | undefined): Tensor {
  if (features.writes && out !== undefined) noteWrite(out)
  return result
}

/** `out`, which is of another dtype, with a copy of the result. */
export function copiedInto(out: Tensor, result: Tensor): Tensor {
  resizeOut(out, result.shape)
  copyInto(out, result)
  return out
}
