import * as kernels from '../../../native/generated/kernels.js'
import { planLoop } from '../../../tensor/iterator.js'
import type { Scalar } from '../../../tensor/scalar.js'
import { checkInRange, scalarBits } from '../../../tensor/scalar-bits.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/write.js'

const NONE: readonly number[] = []

/** Sets every element to a scalar, converted to the dtype of `self`; throws INVALID_ARGUMENT out of its range. The integers of quantized tensors are set as they are. */
export function fillScalar(self: Tensor, value: Scalar): void {
  checkInRange(self.type, value)
  const [low, high] = scalarBits(self.type, value)
  const dense = self.isContiguous
  const loop = dense ? null : planLoop(self.shape, [self])
  kernels.fill({
    ndim: loop?.ndim ?? 0,
    item_size: self.itemSize,
    low,
    high,
    n: loop?.n ?? self.numel,
    out: self.address,
    sizes: loop?.sizes ?? NONE,
    out_strides: loop?.strides[0] ?? NONE,
  })
  noteWrite(self)
}
