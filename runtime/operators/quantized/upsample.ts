import * as kernels from '../../native/generated/kernels.js'
import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'
import { perTensor } from '../support/quantization.js'
import { resample, type ResampleModeName, sizesOf, stepsOf } from '../cpu/support/resample.js'
import { adopt } from './support/adopt.js'
import { stridesLike } from './support/layout.js'

/** Resampling of quantized images; results keep scale and zero point. Nearest moves integers, bilinear mixes them. */

type Sizes = number[]
type Factor = number | null

function finish(result: Tensor, out: Tensor | undefined): Tensor {
  return out === undefined ? result : adopt(out, result)
}

type Form<Operator extends keyof QuantizedCPU> = (operator: string, mode: ResampleModeName) => QuantizedCPU[Operator]

function nearest(operator: string, mode: ResampleModeName, t: Tensor, size: Sizes, factors: readonly Factor[], out?: Tensor): Tensor {
  perTensor(t, operator)
  return finish(resample(operator, mode, t, size, factors, false), out)
}

const nearest2d: Form<'quantized_upsample_nearest2d'> = (operator, mode) => (t, size, h, w, out) =>
  nearest(operator, mode, t, size, [h, w], out)
const nearest3d: Form<'quantized_upsample_nearest3d'> = (operator, mode) => (t, size, d, h, w, out) =>
  nearest(operator, mode, t, size, [d, h, w], out)
const nearestBy: Form<'quantized_upsample_nearest2d_vec'> = (operator, mode) => (t, size, factors, out) => {
  const { output, scales } = sizesOf(operator, t, size, factors)
  return nearest(operator, mode, t, output, scales, out)
}

export const quantized_upsample_nearest2d = nearest2d('upsample_nearest2d', 'nearest')
export const quantized_upsample_nearest2d_vec = nearestBy('upsample_nearest2d', 'nearest')
export const quantized_upsample_nearest3d = nearest3d('upsample_nearest3d', 'nearest')
export const quantized_upsample_nearest3d_vec = nearestBy('upsample_nearest3d', 'nearest')
export const quantized_upsample_nearest_exact2d = nearest2d('_upsample_nearest_exact2d', 'nearest_exact')
export const quantized_upsample_nearest_exact2d_vec = nearestBy('_upsample_nearest_exact2d', 'nearest_exact')
export const quantized_upsample_nearest_exact3d = nearest3d('_upsample_nearest_exact3d', 'nearest_exact')
export const quantized_upsample_nearest_exact3d_vec = nearestBy('_upsample_nearest_exact3d', 'nearest_exact')

export function quantized_upsample_bilinear2d(t: Tensor, size: Sizes, align: boolean, h: Factor, w: Factor, out?: Tensor): Tensor {
  perTensor(t, 'upsample_bilinear2d')
  check(t.type !== DType.qint32, () => 'upsample_bilinear2d: expected an 8-bit tensor, found qint32')
  check(t.dim === 4 && t.shape.slice(1).every((n) => n > 0), () =>
    `upsample_bilinear2d: expected a non-empty image of 4 dimensions, found shape [${t.shape.join(', ')}]`,
  ) // prettier-ignore
  check(size.length === 2 && size.every((n) => n > 0), () => `upsample_bilinear2d: expected two sizes above 0, found [${size.join(', ')}]`)
  const spatial = t.shape.slice(2)
  const [rows, columns] = size as [number, number]
  const shape = [t.shape[0]!, t.shape[1]!, rows, columns]
  const result = emptyStrided(shape, stridesLike(t, shape), t.type, t.quant)
  if (result.numel > 0) {
    const [stepH, stepW] = stepsOf(spatial, size, [h, w], align) as [number, number]
    kernels.quantized_bilinear({
      dtype: t.type,
      align_corners: Number(align),
      batch: shape[0]!,
      channels: shape[1]!,
      in_size: spatial,
      out_size: size,
      in_strides: t.strides,
      out_strides: result.strides,
      row_step: stepH,
      column_step: stepW,
      in: t.address,
      out: result.address,
    })
  }
  return finish(result, out)
}

export const quantized_upsample_bilinear2d_vec: QuantizedCPU['quantized_upsample_bilinear2d_vec'] = (t, size, align, factors, out) => {
  const { output, scales } = sizesOf('upsample_bilinear2d', t, size, factors)
  return quantized_upsample_bilinear2d(t, output, align, scales[0] ?? null, scales[1] ?? null, out)
}
