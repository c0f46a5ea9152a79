import { absent, check } from '../../error.js'
import { canCast } from '../../tensor/dtype.js'
import { resizeOut } from '../../tensor/out.js'
import type { Tensor } from '../../tensor/tensor.js'
import { copyInto } from './copy.js'
import * as features from '../../features.js'

/** `out`, with a copy of `result`: it is resized where its shape differs. */
export function copyOut(result: Tensor, out: Tensor): Tensor {
  if (!features.writes) throw absent('an operator that writes into a given tensor', 'MISSING_KERNEL')
  check(canCast(result.type, out.type), () => `a result of dtype ${result.dtype} cannot be written into a tensor of dtype ${out.dtype}`)
  resizeOut(out, result.shape, result.strides)
  copyInto(out, result)
  return out
}
