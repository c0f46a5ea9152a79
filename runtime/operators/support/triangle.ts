import * as kernels from '../../native/generated/kernels.js'
import { numelOf } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'

/** Sets the elements of contiguous matrices above (`lower`) or below the diagonal to zero, in place. */
export function zeroTriangle(self: Tensor, diagonal: number, lower: boolean): void {
  const rank = self.shape.length
  if (self.numel === 0) return
  kernels.zero_triangle({
    out: self.address,
    bytes: self.itemSize,
    lower: lower ? 1 : 0,
    batch: numelOf(self.shape.slice(0, -2)),
    rows: self.shape[rank - 2]!,
    columns: self.shape[rank - 1]!,
    diagonal,
  })
}
