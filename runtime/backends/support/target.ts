import { check, PtliteError } from '../../error.js'
import { resizeOut } from '../../tensor/iterator.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf, copyInto } from './copy.js'
import { checkOutType } from './deliver.js'

/** The tensor that an operator updates: `self` itself (in place), `out` with the contents of `self`, or a copy. */
export function targetOf(self: Tensor, out: Tensor | undefined, operator: string): Tensor {
  if (out === undefined) return cloneOf(self)
  if (out === self) {
    check(
      !self.strides.some((s, d) => s === 0 && self.shape[d]! > 1),
      () => `${operator}: the elements of the tensor written to share memory`,
    )
    return self
  }
  checkOutType(out, self.type, operator)
  resizeOut(out, self.shape)
  copyInto(out, self)
  return out
}

export function checkSameType(self: Tensor, other: Tensor, operator: string): void {
  if (self.type === other.type) return
  throw new PtliteError(
    'INVALID_DTYPE',
    `${operator}: expected a source of dtype ${self.dtype}, that of the tensor written to, found ${other.dtype}`,
  )
}
