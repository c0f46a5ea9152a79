import { check, PtliteError } from '../../error.js'
import { resizeOut } from '../../tensor/out.js'
import { extentOf } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf, copyInto } from './copy.js'
import { checkOutType } from './deliver.js'

/**
 * The tensor that an operator updates: `self` itself (in place), `out` with the contents of `self`, or a copy. `others` are read while it is written:
 * an `out` that shares memory with one of them is refused (at::assert_no_overlap).
 */
export function targetOf(self: Tensor, out: Tensor | undefined, operator: string, ...others: readonly (Tensor | null)[]): Tensor {
  if (out === undefined) return cloneOf(self)
  if (out === self) {
    check(
      !self.strides.some((s, d) => s === 0 && self.shape[d]! > 1),
      () => `${operator}: the elements of the tensor written to share memory`,
    )
    return self
  }
  check(
    !others.some((t) => t !== null && meets(out, t)),
    () => `${operator}: the tensor written to shares memory with an argument that is read`,
  )
  checkOutType(out, self.type, operator)
  resizeOut(out, self.shape)
  copyInto(out, self)
  return out
}

function meets(a: Tensor, b: Tensor): boolean {
  if (a === b) return true
  const [first, second] = a.offset <= b.offset ? [a, b] : [b, a]
  const reach = extentOf(first.shape, first.strides)
  return a.storage === b.storage && extentOf(second.shape, second.strides) > 0 && first.offset + reach > second.offset
}

export function checkSameType(self: Tensor, other: Tensor, operator: string): void {
  if (self.type === other.type) return
  throw new PtliteError(
    'INVALID_DTYPE',
    `${operator}: expected a source of dtype ${self.dtype}, that of the tensor written to, found ${other.dtype}`,
  )
}
