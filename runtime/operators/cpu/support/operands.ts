import { PtliteError } from '../../../error.js'
import { Compute } from '../../../native/generated/kernels.js'
import { DType, dtypeName, isComplex, isQuantized } from '../../../tensor/dtype.js'
import { isHalf } from '../../../tensor/half.js'
import { resultTensor } from '../../../tensor/iterator.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { isHeld } from '../../support/converted.js'
import { castTo, copyInto } from '../../support/copy.js'

/** What an elementwise operator checks and converts before its kernel runs. */

/** The type that kernels work in for elements of this dtype. */
export function computeFor(type: DType): number {
  if (type === DType.float32 || isHalf(type)) return Compute.f32
  return type === DType.float64 ? Compute.f64 : Compute.i64
}

/** Throws INVALID_DTYPE: operator `name` has no meaning for this dtype. */
export function notFor(name: string, type: DType): never {
  throw new PtliteError('INVALID_DTYPE', `${name} is not implemented for dtype ${dtypeName(type)}`)
}

export function checkPlain(name: string, t: Tensor): void {
  if (isQuantized(t.type) || isComplex(t.type)) notFor(name, t.type)
}

/** A result of dtype `type` that goes into another dtype must be computed first: these lose bits that kernels keep. */
export function isNarrow(type: DType): boolean {
  return type < DType.int64 || isHalf(type)
}

/** Computes into a new tensor and converts that into `out`. */
export function byWayOf(out: Tensor, shape: readonly number[], type: DType, inputs: readonly Tensor[], compute: () => Tensor): Tensor {
  const result = resultTensor(out, shape, type, inputs)
  copyInto(result, compute())
  return result
}

/** Throws INVALID_DTYPE where an operator that does not convert its result is given an `out` of another dtype. */
export function checkSameType(name: string, out: Tensor | undefined, type: DType): void {
  if (out !== undefined && out.type !== type) {
    throw new PtliteError('INVALID_DTYPE', `${name} expects an out tensor of dtype ${dtypeName(type)}, found ${out.dtype}`)
  }
}

/** The operand as the kernel may read it: elements that `common` cannot hold are converted first. */
export function operandFor(t: Tensor, common: DType): Tensor {
  return t.type === common || isHeld(t.type, common) ? t : castTo(t, common)
}
