import type { Tensor } from '../../tensor/tensor.js'
import * as cpu from '../cpu/upsample.js'
import { throughFloat } from './support/through-float.js'

type Sizes = number[]
type Factor = number | null

export function quantized_upsample_nearest1d(t: Tensor, size: Sizes, scale: Factor, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest1d(x, size, scale), out)
}

export function quantized_upsample_nearest2d(t: Tensor, size: Sizes, h: Factor, w: Factor, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest2d(x, size, h, w), out)
}

export function quantized_upsample_nearest3d(t: Tensor, size: Sizes, d: Factor, h: Factor, w: Factor, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest3d(x, size, d, h, w), out)
}

export function quantized_upsample_bilinear2d(t: Tensor, size: Sizes, align: boolean, h: Factor, w: Factor, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_bilinear2d(x, size, align, h, w), out)
}

export function quantized_upsample_nearest1d_vec(t: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest1d_vec(x, size, factors), out)
}

export function quantized_upsample_nearest2d_vec(t: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest2d_vec(x, size, factors), out)
}

export function quantized_upsample_nearest3d_vec(t: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.upsample_nearest3d_vec(x, size, factors), out)
}

export function quantized_upsample_bilinear2d_vec(
  t: Tensor,
  size: Sizes | null,
  align: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return throughFloat(t, (x) => cpu.upsample_bilinear2d_vec(x, size, align, factors), out)
}
