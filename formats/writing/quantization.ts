import { DType } from '../../runtime/tensor/dtype.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { type PerChannelQuant, Tensor } from '../../runtime/tensor/tensor.js'

/** Scales and zero points of channels as files have them: float64 and int64, or float32 both. */
export function channelTensors({ scales, zeroPoints, floatZeroPoints }: PerChannelQuant): { scales: Tensor; zeroPoints: Tensor } {
  if (floatZeroPoints === true)
    return { scales: row(Float32Array.from(scales), DType.float32), zeroPoints: row(Float32Array.from(zeroPoints), DType.float32) }
  return {
    scales: row(Float64Array.from(scales), DType.float64),
    zeroPoints: row(BigInt64Array.from(zeroPoints, BigInt), DType.int64),
  }
}

function row(numbers: Float32Array | Float64Array | BigInt64Array, dtype: DType): Tensor {
  return new Tensor(Storage.holding(numbers), 0, [numbers.length], [1], dtype)
}
