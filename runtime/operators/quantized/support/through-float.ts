import type { PerTensorQuant, Tensor } from '../../../tensor/tensor.js'
import { dequantized, perTensor, quantizePerTensor } from '../../support/quantization.js'
import { adopt } from './adopt.js'

/**
 * Applies `f` to the float32 values of `t` and quantizes the result, by default with the parameters of `t`. For
 * operators that select elements this is exact; for those that average, PyTorch rounds in the same place.
 */
export function throughFloat(t: Tensor, f: (x: Tensor) => Tensor, out?: Tensor, to?: PerTensorQuant): Tensor {
  const { scale, zeroPoint } = to ?? perTensor(t, 'this operator')
  const result = quantizePerTensor(f(dequantized(t)), scale, zeroPoint, t.type)
  return out === undefined ? result : adopt(out, result)
}
