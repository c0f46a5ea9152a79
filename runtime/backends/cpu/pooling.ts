import { check } from '../../error.js'
import { PoolMode } from '../../native/generated/kernels.js'
import type { Tensor } from '../../tensor/tensor.js'
import { deliver } from './support/out.js'
import { adaptivePool, averagePool, maxPool, type PoolSettings, strideOf } from './support/pool.js'

type MaxPool = (self: Tensor, window: number[], stride: number[], padding: number[], dilation: number[], ceilMode: boolean) => Tensor
type MaxPoolWithIndices = (
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceilMode: boolean,
  out?: Tensor,
  indices?: Tensor,
) => [Tensor, Tensor]

function settingsOf(window: number[], stride: number[], padding: number[], dilation: number[], ceil: boolean): PoolSettings {
  return { window, stride: strideOf(window, stride), padding, dilation, ceil }
}

function maxPoolNd(operator: string): MaxPool {
  return (self, window, stride, padding, dilation, ceil) => maxPool(operator, self, settingsOf(window, stride, padding, dilation, ceil), false)[0]
}

function maxPoolWithIndices(operator: string): MaxPoolWithIndices {
  return (self, window, stride, padding, dilation, ceil, out, indices) => {
    const [values, where] = maxPool(operator, self, settingsOf(window, stride, padding, dilation, ceil), true)
    return [deliver(values, out), deliver(where!, indices)]
  }
}

/** torch.max_pool1d and its kin: input [n, c, ...] or [c, ...]; an empty stride is the window. */
export const max_pool1d = maxPoolNd('max_pool1d')
export const max_pool2d = maxPoolNd('max_pool2d')
export const max_pool3d = maxPoolNd('max_pool3d')
export const max_pool1d_with_indices = maxPoolWithIndices('max_pool1d_with_indices')
export const max_pool2d_with_indices = maxPoolWithIndices('max_pool2d_with_indices')
export const max_pool3d_with_indices = maxPoolWithIndices('max_pool3d_with_indices')

const NONE: readonly number[] = [1, 1, 1]

function average(
  operator: string,
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceil: boolean,
  countIncludePad: boolean,
  divisor: number | null,
): Tensor {
  check(divisor !== 0, () => `${operator}: divisor_override must not be zero`)
  const settings = { window, stride: strideOf(window, stride), padding, dilation: NONE.slice(0, window.length), ceil }
  return averagePool(operator, self, settings, countIncludePad, divisor ?? 0)
}

/** torch.avg_pool1d. */
export function avg_pool1d(self: Tensor, window: number[], stride: number[], padding: number[], ceilMode: boolean, countIncludePad: boolean): Tensor {
  return average('avg_pool1d', self, window, stride, padding, ceilMode, countIncludePad, null)
}

/** torch.avg_pool2d. */
export function avg_pool2d(
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceilMode: boolean,
  countIncludePad: boolean,
  divisorOverride: number | null,
  out?: Tensor,
): Tensor {
  return deliver(average('avg_pool2d', self, window, stride, padding, ceilMode, countIncludePad, divisorOverride), out)
}

/** torch.avg_pool3d. */
export function avg_pool3d(
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceilMode: boolean,
  countIncludePad: boolean,
  divisorOverride: number | null,
  out?: Tensor,
): Tensor {
  return deliver(average('avg_pool3d', self, window, stride, padding, ceilMode, countIncludePad, divisorOverride), out)
}

type AdaptiveAverage = (self: Tensor, outputSize: number[], out?: Tensor) => Tensor
type AdaptiveMax = (self: Tensor, outputSize: number[], out?: Tensor, indices?: Tensor) => [Tensor, Tensor]

function adaptiveAverage(operator: string): AdaptiveAverage {
  return (self, sizes, out) => deliver(adaptivePool(operator, PoolMode.average, self, sizes, false)[0], out)
}

function adaptiveMax(operator: string): AdaptiveMax {
  return (self, sizes, out, indices) => {
    const [values, where] = adaptivePool(operator, PoolMode.max, self, sizes, true)
    return [deliver(values, out), deliver(where!, indices)]
  }
}

/** Pooling to a given size: input [n, c, ...] or [c, ...]. */
export const adaptive_avg_pool1d = adaptiveAverage('adaptive_avg_pool1d')
export const adaptive_avg_pool2d = adaptiveAverage('adaptive_avg_pool2d')
export const adaptive_avg_pool3d = adaptiveAverage('adaptive_avg_pool3d')
export const adaptive_max_pool1d = adaptiveMax('adaptive_max_pool1d')
export const adaptive_max_pool2d = adaptiveMax('adaptive_max_pool2d')
export const adaptive_max_pool3d = adaptiveMax('adaptive_max_pool3d')
