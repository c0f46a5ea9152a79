import { PtliteError } from '../error.js'
import { noteUse } from '../used.js'
import type { DType } from './dtype.js'
import { checkCast, checkOverlap, resizeOut } from './out.js'
import { sameShape, shapeText } from './shape.js'
import type { Tensor } from './tensor.js'

/** `out`, to be written: see resultTensor. */
export function preparedOut(out: Tensor, shape: readonly number[], type: DType, inputs: readonly Tensor[]): Tensor {
  checkCast(type, out.type)
  if (!inputs.includes(out)) resizeOut(out, shape)
  else if (!sameShape(out.shape, shape)) {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `output with shape ${shapeText(out.shape)} doesn't match the broadcast shape ${shapeText(shape)}`,
    )
  }
  checkOverlap(out, inputs)
  noteUse('writes')
  return out
}
