import { writeTensor } from '../../../tensor/data.js'
import { DType } from '../../../tensor/dtype.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'

/** A new vector of float32 numbers. */
export function filledWith(data: Float32Array): Tensor {
  const t = empty([data.length], DType.float32)
  writeTensor(t, data)
  return t
}
