import type { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { copyInto } from '../cpu/support/copy.js'
import { dequantized, perTensor, quantizePerTensor } from '../cpu/support/quantization.js'
import { mean_dim } from '../cpu/reduction.js'

/** The mean in float32, with the parameters of the input. */
export function quantized_mean_out(t: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  const { scale, zeroPoint } = perTensor(t, 'mean')
  const result = quantizePerTensor(mean_dim(dequantized(t), dim, keepdim, dtype), scale, zeroPoint, t.type)
  if (out === undefined) return result
  copyInto(out, result)
  out.quant = result.quant
  return out
}
