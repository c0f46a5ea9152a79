import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isIntegral } from '../../tensor/dtype.js'
import type { Scalar } from '../../tensor/scalar.js'
import { itemOf } from '../../tensor/data.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { writeOutExact } from '../support/write-out.js'
import { zerosOf } from '../support/make.js'
import { reduce } from '../support/reduce.js'

/** torch.histc: counts in equal bins over [min, max], or over the range of the data where both are equal. */
export function histc(self: Tensor, bins: number, min: Scalar, max: Scalar, out?: Tensor): Tensor {
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `histc: expected float32 or float64, found ${self.dtype}`)
  }
  check(bins > 0, () => `histc: expected a positive number of bins, found ${bins}`)
  let low = Number(min)
  let high = Number(max)
  if (low === high && self.numel > 0) {
    low = Number(itemOf(reduce('min', self, null, false, self.type)))
    high = Number(itemOf(reduce('max', self, null, false, self.type)))
  }
  if (low === high) {
    low -= 1
    high += 1
  }
  check(Number.isFinite(low) && Number.isFinite(high), () => `histc: the range from ${low} to ${high} is not finite`)
  check(low < high, () => `histc: expected max above min, found ${low} to ${high}`)
  const result = zerosOf([bins], self.type)
  const data = contiguousOf(self)
  kernels.histogram({ dtype: self.type, count: data.numel, bins, low, high, in: data.address, out: result.address })
  return writeOutExact(result, out, 'histc')
}

/** torch.bincount: how often each number occurs, or the sum of its weights. */
export function bincount(self: Tensor, weights: Tensor | null, minlength: number): Tensor {
  if (!isIntegral(self.type)) throw new PtliteError('INVALID_DTYPE', `bincount: expected an integer dtype, found ${self.dtype}`)
  check(minlength >= 0, () => `bincount: expected minlength of at least 0, found ${minlength}`)
  check(self.dim === 1, () => `bincount: expected one dimension, found ${self.dim}`)
  if (self.numel === 0) return zerosOf([minlength], DType.int64)
  check(weights === null || (weights.dim === 1 && weights.numel === self.numel), () => 'bincount: expected as many weights as elements')
  const low = Number(itemOf(reduce('min', self, null, false, self.type)))
  check(low >= 0, () => `bincount: expected no negative elements, found ${low}`)
  const bins = Math.max(minlength, Number(itemOf(reduce('max', self, null, false, self.type))) + 1)
  const data = contiguousOf(castTo(self, DType.int64))
  const share = weights === null ? null : contiguousOf(castTo(weights, DType.float64))
  const out = zerosOf([bins], share === null ? DType.int64 : DType.float64)
  kernels.bin_count({ count: data.numel, bins, in: data.address, weights: share === null ? 0 : share.address, out: out.address })
  return weights !== null && weights.type === DType.float32 ? castTo(out, DType.float32) : out
}
