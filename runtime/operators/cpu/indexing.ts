import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { writeOutExact } from '../support/write-out.js'
import { alongDim, checkIndexType, getIndexed } from './support/index-walk.js'
import { expandTo } from '../support/make.js'

/** torch.gather: out[.., i, ..] = self[.., index[.., i, ..], ..] along `dim`. */
export function gather(self: Tensor, dim: number, index: Tensor, _sparseGrad: boolean, out?: Tensor): Tensor {
  const along = wrapDim(dim, self.dim)
  if (index.numel > 0) {
    checkIndexType(index, 'gather')
    checkGatherShape(self, along, index)
  }
  const result = empty([...index.shape], self.type, self.quant)
  getIndexed(result, self, alongDim(self, along, index, result.strides), false)
  return writeOutExact(result, out, 'gather')
}

function checkGatherShape(self: Tensor, dim: number, index: Tensor): void {
  check(Math.max(self.dim, 1) === Math.max(index.dim, 1), () => `gather: expected an index of ${self.dim} dimensions, found ${index.dim}`)
  for (let d = 0; d < self.dim; d++) {
    check(d === dim || index.shape[d]! <= self.shape[d]!, () =>
      `gather: index [${index.shape.join(', ')}] must not exceed self [${self.shape.join(', ')}] apart from dimension ${dim}`,
    ) // prettier-ignore
  }
}

/**
 * A mask of another dtype as PyTorch's masked_fill reads it: the first byte of every element, which must be 0 or 1. So integers of
 * 0 and 1 work, and floating-point ones hold nowhere.
 */
function firstBytes(mask: Tensor): Tensor {
  const { type, itemSize } = mask
  if (type === DType.bool || type === DType.uint8) return mask
  const strides = mask.strides.map((s) => s * itemSize)
  const bytes = new Tensor(mask.storage, mask.offset * itemSize, mask.shape, strides, DType.uint8, null)
  const largest = (readTensor(bytes) as Uint8Array).reduce((most, b) => Math.max(most, b), 0)
  check(largest <= 1, () => `masked_fill: expected a mask of 0 and 1, found a ${mask.dtype} mask whose first bytes reach ${largest}`)
  return bytes
}

/** self[mask] = value, in place; the mask is broadcast. `value` is a 0-d tensor of the dtype of `self`. */
export function maskedFillInPlace(self: Tensor, mask: Tensor, value: Tensor): Tensor {
  const spread = expandTo(firstBytes(mask), self.shape)
  if (self.numel === 0) return self
  const ndim = self.dim
  kernels.masked_fill({
    item_size: self.itemSize,
    ndim,
    sizes: [...self.shape].reverse(),
    self_strides: [...self.strides].reverse(),
    mask_strides: [...spread.strides].reverse(),
    self: self.address,
    mask: spread.address,
    value: value.address,
  })
  noteWrite(self)
  return self
}

/** torch.take_along_dim on tensors of equal rank, already broadcast. Where it `wraps`, negative indices count from the end. */
export function takeAlong(self: Tensor, dim: number, index: Tensor, wraps: boolean): Tensor {
  const result = empty([...index.shape], self.type, self.quant)
  getIndexed(result, self, alongDim(self, dim, index, result.strides), wraps)
  return result
}
