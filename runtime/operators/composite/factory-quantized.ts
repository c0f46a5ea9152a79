import { check } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { DType, dtypeName, isFloating, isQuantized } from '../../tensor/dtype.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import * as newTensor from '../../tensor/tensor.js'
import type { Quant, Tensor } from '../../tensor/tensor.js'
import { stridesFor } from '../../tensor/view-strides.js'
import { castTo } from '../support/copy.js'
import type { Composite } from '../support/generated/interfaces.js'
import { checkStridedLayout } from './convert.js'
import { checkSizes } from './factory.js'

function makeQuantized(size: readonly number[], options: TensorOptions, quant: Quant, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  checkSizes(size)
  const type = options.dtype ?? DType.float32
  check(isQuantized(type), () => `expected a quantized dtype, found ${dtypeName(type)}`)
  return newTensor.emptyStrided(size.slice(), stridesFor(size, format ?? MemoryFormat.contiguous), type, quant)
}

export const _empty_affine_quantized: Composite['_empty_affine_quantized'] = (size, options, scale, zeroPoint, format) =>
  makeQuantized(size, options, { scale, zeroPoint }, format)

export const _empty_per_channel_affine_quantized: Composite['_empty_per_channel_affine_quantized'] = (
  size,
  scales,
  zeroPoints,
  axis,
  options,
  format,
) => {
  const quant = {
    axis,
    scales: Array.from(readTensor(castTo(scales, DType.float64)), Number),
    zeroPoints: Array.from(readTensor(castTo(zeroPoints, DType.float64)), Number),
    floatZeroPoints: isFloating(zeroPoints.type),
  }
  check(
    quant.scales.length === size[axis] && quant.zeroPoints.length === size[axis],
    () => `expected ${String(size[axis])} scales and zero points, found ${quant.scales.length} and ${quant.zeroPoints.length}`,
  )
  return makeQuantized(size, options, quant, format)
}

/** As `qtensor` is quantized. */
export function empty_quantized(size: number[], qtensor: Tensor, options: TensorOptions, format: number | null): Tensor {
  const { quant } = qtensor
  check(quant !== null, () => `expected a quantized tensor, found ${qtensor.dtype}`)
  return makeQuantized(size, { ...options, dtype: qtensor.type }, quant, format)
}
