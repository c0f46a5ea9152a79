import * as kernels from '../../../native/generated/kernels.js'
import type { ConvSettings } from '../../../shapes/convolution.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { dense, denseAddress } from '../../support/real.js'
import { geometry } from './conv-geometry.js'
import * as features from '../../../features.js'
import { absent } from '../../../error.js'

/** Sums in float32, rounded once, as `product` has them. */
export function convolveBfloat16(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  settings: ConvSettings,
  sizes: readonly number[],
): Tensor {
  if (!features.half) throw absent('bfloat16')
  const { type } = input
  const result = empty([input.shape[0]!, weight.shape[0]!, ...sizes], type)
  if (result.numel === 0) return result
  const x = dense(input, type)
  const w = dense(weight, type)
  kernels.bfloat16_conv({
    ...geometry(input, weight, result, settings),
    input: x.address,
    weight: w.address,
    bias: denseAddress(bias, type),
    output: result.address,
  })
  return result
}
