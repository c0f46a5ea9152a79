import { check } from '../../error.js'
import { canCast } from '../../tensor/dtype.js'
import { resizeOut } from '../../tensor/out.js'
import type { Tensor } from '../../tensor/tensor.js'
import { copyInto } from './copy.js'

/** `out`, with a copy of `result`: it is resized where its shape differs. */
export function copyOut(result: Tensor, out: Tensor): Tensor {
  check(canCast(result.type, out.type), () => `a result of dtype ${result.dtype} cannot be written into a tensor of dtype ${out.dtype}`)
  resizeOut(out, result.shape, result.strides)
  copyInto(out, result)
  return out
}
