import { check, PtliteError, absent } from '../../error.js'
import { type DType, dtypeName, canCast } from '../../tensor/dtype.js'
import { resizeOut } from '../../tensor/out.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { copyInto } from './copy.js'
import * as features from '../../features.js'

/** Hands a result over: as it is, or by copying it into `out`, which is resized where its shape differs. */
export function writeOut(result: Tensor, out: Tensor | undefined): Tensor {
  return out === undefined ? result : copyOut(result, out)
}

/** Like `writeOut`, for variants that PyTorch derives: a resized `out` lies in rows. */
export function writeOutInRows(result: Tensor, out: Tensor | undefined): Tensor {
  if (out !== undefined) resizeOut(out, result.shape)
  return writeOut(result, out)
}

/** Like `writeOut`, for operators that take no other dtype for `out` than their own. */
export function writeOutExact(result: Tensor, out: Tensor | undefined, operator: string): Tensor {
  if (out !== undefined) checkOutType(out, result.type, operator)
  return writeOut(result, out)
}

/** Tensors to write results into, as functions with a variant for them take them last. */
export type Outs = (Tensor | undefined)[]

/** `writeOut` for each of several results; either all have an out tensor or none has. */
export function writeOuts<T extends Tensor[]>(results: T, outs: Readonly<Outs>): T {
  return results.map((result, i) => writeOut(result, outs[i])) as T
}

/** `writeOutExact` for each of several results; all are checked before the first is written. */
export function writeOutsExact<T extends Tensor[]>(results: T, outs: Readonly<Outs>, operator: string): T {
  results.forEach((result, i) => outs[i] !== undefined && checkOutType(outs[i], result.type, operator))
  return writeOuts(results, outs)
}

export function checkOutType(out: Tensor, type: DType, operator: string): void {
  if (out.type === type) return
  throw new PtliteError('INVALID_DTYPE', `${operator}: expected an out tensor of dtype ${dtypeName(type)}, found ${out.dtype}`)
}

/** Copies a result of an in-place operator back into `self`; shapes must agree. */
export function deliverInPlace(result: Tensor, self: Tensor): Tensor {
  check(
    sameShape(result.shape, self.shape),
    () => `the result has shape ${shapeText(result.shape)}, the tensor written to ${shapeText(self.shape)}`,
  )
  return writeOut(result, self)
}

/** `out`, with a copy of `result`: it is resized where its shape differs. */
function copyOut(result: Tensor, out: Tensor): Tensor {
  if (!features.writes) throw absent('an operator that writes into a given tensor', 'MISSING_KERNEL')
  check(canCast(result.type, out.type), () => `a result of dtype ${result.dtype} cannot be written into a tensor of dtype ${out.dtype}`)
  resizeOut(out, result.shape, result.strides)
  copyInto(out, result)
  return out
}
