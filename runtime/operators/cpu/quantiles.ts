import { check } from '../../error.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOutExact } from '../support/write-out.js'
import { filled, flattened } from '../support/make.js'
import { checkNotEmpty } from '../support/reduce.js'
import type { CPU } from '../support/generated/interfaces.js'
import { selectLines } from './support/select.js'
import { numeric } from './sort.js'

/** torch.kthvalue: the k-th smallest element along `dim`, k counted from 1. */
export const kthvalue: CPU['kthvalue'] = (self, k, dim, keepdim, outValues, outIndices) => {
  numeric(self, 'kthvalue')
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], 'kthvalue')
  const length = self.dim === 0 ? 1 : self.shape[along]!
  check(k >= 1 && k <= length, () => `kthvalue: expected k from 1 to ${length}, found ${k}`)
  const [values, indices] = selectLines('kth', self, along, { k, keepdim })
  return [writeOutExact(values, outValues, 'kthvalue'), writeOutExact(indices, outIndices, 'kthvalue')]
}

type MedianOp = 'median' | 'nanmedian'

function medianAlong(op: MedianOp, self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  numeric(self, op)
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], op)
  const [values, indices] = selectLines(op, self, along, { keepdim })
  return [writeOutExact(values, outValues, op), writeOutExact(indices, outIndices, op)]
}

function medianOfAll(op: MedianOp, self: Tensor): Tensor {
  numeric(self, op)
  if (self.numel === 0) return filled([], self.type, isFloating(self.type) ? new Float(NaN) : lowestInteger(self.type))
  return selectLines(op, flattened(self), 0, {})[0]
}

/** What PyTorch's NaN becomes when it is cast to an integer dtype. */
function lowestInteger(type: DType): Scalar {
  if (type === DType.int64) return -(2n ** 63n)
  return type === DType.int32 ? -(2 ** 31) : 0
}

/** torch.median: the lower median; NaN where there is one. */
export function median(self: Tensor): Tensor {
  return medianOfAll('median', self)
}

export function median_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return medianAlong('median', self, dim, keepdim, outValues, outIndices)
}

/** torch.nanmedian: the lower median of what is not NaN. */
export function nanmedian(self: Tensor): Tensor {
  return medianOfAll('nanmedian', self)
}

export function nanmedian_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return medianAlong('nanmedian', self, dim, keepdim, outValues, outIndices)
}

/** torch.mode: the smallest of the most frequent elements along `dim`. */
export function mode(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], 'mode')
  const [values, indices] = selectLines('mode', self, along, { keepdim })
  return [writeOutExact(values, outValues, 'mode'), writeOutExact(indices, outIndices, 'mode')]
}
