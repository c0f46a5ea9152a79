import { PtliteError } from '../../error.js'
import { checkApart, checkOverlap, resizeOut } from '../../tensor/out.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf, contiguousCopy, copyInto } from './copy.js'
import { checkOutType } from './write-out.js'

/**
 * The tensor that an operator updates: `self` itself (in place), `out` with the contents of `self`, or a row-major copy. `others` are read while it is
 * written. Throws where elements of the tensor written to share memory, or where it shares memory with others.
 */
export function targetOf(self: Tensor, out: Tensor | undefined, operator: string, ...others: readonly (Tensor | null)[]): Tensor {
  if (out === self) checkOverlap(self, [])
  return out === undefined ? contiguousCopy(self) : givenTarget(self, out, operator, others)
}

/** As targetOf for operators that write over elements which share memory, one after the other, and whose copies lie in memory as `self` does. */
export function looseTargetOf(self: Tensor, out: Tensor | undefined, operator: string, ...others: readonly (Tensor | null)[]): Tensor {
  return out === undefined ? cloneOf(self) : givenTarget(self, out, operator, others)
}

function givenTarget(self: Tensor, out: Tensor, operator: string, others: readonly (Tensor | null)[]): Tensor {
  for (const t of others) if (t !== null) checkApart(out, t)
  if (out === self) return self
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
