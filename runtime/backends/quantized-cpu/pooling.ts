import type { Tensor } from '../../tensor/tensor.js'
import * as cpu from '../cpu/pooling.js'
import { throughFloat } from './support/through-float.js'

export function quantized_avg_pool2d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceilMode: boolean,
  countIncludePad: boolean,
  divisor: number | null,
  out?: Tensor,
): Tensor {
  return throughFloat(t, (x) => cpu.avg_pool2d(x, window, stride, padding, ceilMode, countIncludePad, divisor), out)
}

export function quantized_avg_pool3d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceilMode: boolean,
  countIncludePad: boolean,
  divisor: number | null,
  out?: Tensor,
): Tensor {
  return throughFloat(t, (x) => cpu.avg_pool3d(x, window, stride, padding, ceilMode, countIncludePad, divisor), out)
}

export function quantized_adaptive_avg_pool2d(t: Tensor, size: number[], out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.adaptive_avg_pool2d(x, size), out)
}

export function quantized_adaptive_avg_pool3d(t: Tensor, size: number[], out?: Tensor): Tensor {
  return throughFloat(t, (x) => cpu.adaptive_avg_pool3d(x, size), out)
}

export function max_pool1d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceilMode: boolean,
): Tensor {
  return throughFloat(t, (x) => cpu.max_pool1d(x, window, stride, padding, dilation, ceilMode))
}

export function max_pool2d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceilMode: boolean,
): Tensor {
  return throughFloat(t, (x) => cpu.max_pool2d(x, window, stride, padding, dilation, ceilMode))
}
