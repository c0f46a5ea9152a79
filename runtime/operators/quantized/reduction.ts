import { PtliteError } from '../../error.js'
import { type DType, dtypeName } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { mean_dim } from '../cpu/reduction.js'
import { deviation_correction } from '../cpu/variance.js'
import { throughFloat } from './support/through-float.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'

/** Reductions that average: in float32, with the parameters of the input for the result, as in PyTorch. */

export function quantized_mean_out(t: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  if (dtype !== null && dtype !== t.type) {
    throw new PtliteError('INVALID_DTYPE', `mean: a ${t.dtype} tensor has a mean of its own dtype, found ${dtypeName(dtype)}`)
  }
  return throughFloat(t, (x) => mean_dim(x, dim, keepdim, null), out)
}

export function quantized_mean(t: Tensor, dtype: DType | null): Tensor {
  return quantized_mean_out(t, null, false, dtype)
}

/** torch.std with the number of degrees of freedom taken off the count (null: 1). */
export const quantized_std_correction: QuantizedCPU['quantized_std_correction'] = (t, dim, correction, keepdim, out) =>
  throughFloat(t, (x) => deviation_correction(x, dim, correction, keepdim), out)

export function quantized_std(t: Tensor, unbiased: boolean): Tensor {
  return quantized_std_correction(t, null, Number(unbiased), false)
}

export function quantized_std_dim(t: Tensor, dim: number[] | null, unbiased: boolean, keepdim: boolean, out?: Tensor): Tensor {
  return quantized_std_correction(t, dim, Number(unbiased), keepdim, out)
}
