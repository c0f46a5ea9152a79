import { absent, PtliteError } from '../error.js'
import { noteUse } from '../used.js'
import type { DType } from './dtype.js'
import { checkCast, checkOverlap, resizeOut } from './out.js'
import type { Operand } from './promote.js'
import { sameShape, shapeText } from './shape.js'
import { Tensor } from './tensor.js'
import * as features from '../features.js'

/** `out`, to be written: see resultTensor. `strides` are those of a new result. */
export function preparedOut(
  out: Tensor,
  shape: readonly number[],
  strides: () => readonly number[],
  type: DType,
  operands: readonly Operand[],
): Tensor {
  if (!features.writes) throw absent('an operator that writes into a given tensor', 'MISSING_KERNEL')
  checkCast(type, out.type)
  const inputs = operands.filter((t) => t instanceof Tensor)
  if (!inputs.includes(out)) {
    if (!sameShape(out.shape, shape)) resizeOut(out, shape, strides())
  } else if (!sameShape(out.shape, shape)) {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `output with shape ${shapeText(out.shape)} doesn't match the broadcast shape ${shapeText(shape)}`,
    )
  }
  checkOverlap(out, inputs)
  noteUse('writes')
  return out
}
