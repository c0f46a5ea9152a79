import type { Tensor } from '../../tensor/tensor.js'
import { matmul as floatMatmul } from '../cpu/matmul.js'
import { softmax_int } from '../cpu/softmax.js'
import { check } from '../../error.js'
import { dequantized, perTensor } from '../support/quantization.js'
import { throughFloat } from './support/through-float.js'

/** Matrix product of two activations: PyTorch computes it in float32 as well. */
export function matmul(a: Tensor, b: Tensor, scale: number, zeroPoint: number): Tensor {
  perTensor(b, 'quantized::matmul')
  check(a.type === b.type, () => `quantized::matmul: both operands must have one dtype, found ${a.dtype} and ${b.dtype}`)
  const other = dequantized(b)
  return throughFloat(a, (x) => floatMatmul(x, other), undefined, { scale, zeroPoint })
}

export function softmax(t: Tensor, dim: number, scale: number, zeroPoint: number): Tensor {
  return throughFloat(t, (x) => softmax_int(x, dim, null), undefined, { scale, zeroPoint })
}
