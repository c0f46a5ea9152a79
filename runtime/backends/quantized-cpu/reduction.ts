import type { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { mean_dim } from '../cpu/reduction.js'
import { throughFloat } from './support/through-float.js'

/** The mean in float32, with the parameters of the input. */
export function quantized_mean_out(t: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  return throughFloat(t, (x) => mean_dim(x, dim, keepdim, dtype), out)
}
