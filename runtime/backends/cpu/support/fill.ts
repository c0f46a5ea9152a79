import { HOLDS_COMPLEX } from '../../../held.js'
import * as kernels from '../../../native/generated/kernels.js'
import { partOf } from '../../../tensor/complex.js'
import { isComplex } from '../../../tensor/dtype.js'
import { denseLoop, planLoop } from '../../../tensor/iterator.js'
import type { Scalar } from '../../../tensor/scalar.js'
import { checkInRange, scalarBits } from '../../../tensor/scalar-bits.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/write.js'

/** Sets every element to a scalar, converted to the dtype of `self`; throws INVALID_ARGUMENT out of its range. The integers of quantized tensors are set as they are. */
export function fillScalar(self: Tensor, value: Scalar): void {
  if (HOLDS_COMPLEX && isComplex(self.type)) {
    fillScalar(partOf(self, 0), value)
    fillScalar(partOf(self, 1), 0)
    return
  }
  checkInRange(self.type, value)
  const [low, high] = scalarBits(self.type, value)
  const loop = self.isContiguous ? denseLoop(self.numel) : planLoop(self.shape, [self])
  kernels.fill({
    ndim: loop.ndim,
    item_size: self.itemSize,
    low,
    high,
    n: loop.n,
    out: self.address,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
  })
  noteWrite(self)
}
