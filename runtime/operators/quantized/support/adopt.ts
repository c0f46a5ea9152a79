import { resizeOut } from '../../../tensor/out.js'
import { Tensor } from '../../../tensor/tensor.js'
import { copyInto } from '../../support/copy.js'
import { checkOutType } from '../../support/write-out.js'

/** Writes a result into `out`, which is resized to its shape and takes its parameters. */
export function adopt(out: Tensor, result: Tensor): Tensor {
  checkOutType(out, result.type, 'this operator')
  resizeOut(out, result.shape)
  copyInto(out, result)
  Tensor.retype(out, out.type, result.quant)
  return out
}
