import { check } from '../../error.js'
import { PoolMode } from '../../native/generated/kernels.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOutExact } from '../support/write-out.js'
import type { CPU } from '../support/generated/interfaces.js'
import { adaptivePool, averagePool, maxPool, poolSettings } from './support/pool.js'

export function maxPoolNd(count: number): CPU['max_pool2d'] {
  const operator = `max_pool${count}d`
  return (self, window, stride, padding, dilation, ceil) =>
    maxPool(operator, self, poolSettings(operator, count, window, stride, padding, dilation, ceil), false)[0]
}

export function maxPoolWithIndices(count: number): CPU['max_pool2d_with_indices'] {
  const operator = `max_pool${count}d_with_indices`
  return (self, window, stride, padding, dilation, ceil, out, indices) => {
    const [values, where] = maxPool(operator, self, poolSettings(operator, count, window, stride, padding, dilation, ceil), true)
    return [writeOutExact(values, out, operator), writeOutExact(where!, indices, operator)]
  }
}
export const max_pool2d = maxPoolNd(2)
export const max_pool2d_with_indices = maxPoolWithIndices(2)

/** avg_pool3d alone wants the input to hold the window without its padding. */
function checkHoldsWindow(operator: string, self: Tensor, window: readonly number[]): void {
  const sizes = self.shape.slice(-3)
  check(
    sizes.every((size, d) => size >= (window[d] ?? window[0]!)),
    () => `${operator}: a window of [${window.join(', ')}] does not fit into an input of [${sizes.join(', ')}]`,
  )
}

export function average(
  count: number,
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  ceil: boolean,
  countIncludePad: boolean,
  divisor: number | null,
): Tensor {
  const operator = `avg_pool${count}d`
  check(divisor !== 0, () => `${operator}: divisor_override must not be zero`)
  const settings = poolSettings(operator, count, window, stride, padding, [1], ceil)
  if (count === 3) checkHoldsWindow(operator, self, window)
  return averagePool(operator, self, settings, countIncludePad, divisor ?? 0)
}

/** torch.avg_pool2d. */
export const avg_pool2d: CPU['avg_pool2d'] = (self, window, stride, padding, ceilMode, countIncludePad, divisorOverride, out) =>
  writeOutExact(average(2, self, window, stride, padding, ceilMode, countIncludePad, divisorOverride), out, 'avg_pool2d')

export function adaptiveAverage(count: number): CPU['adaptive_avg_pool2d'] {
  const operator = `adaptive_avg_pool${count}d`
  return (self, sizes, out) => writeOutExact(adaptivePool(operator, count, PoolMode.average, self, sizes, false)[0], out, operator)
}

export function adaptiveMax(count: number): CPU['adaptive_max_pool2d'] {
  const operator = `adaptive_max_pool${count}d`
  return (self, sizes, out, indices) => {
    const [values, where] = adaptivePool(operator, count, PoolMode.max, self, sizes, true)
    return [writeOutExact(values, out, operator), writeOutExact(where!, indices, operator)]
  }
}
export const adaptive_avg_pool2d = adaptiveAverage(2)
export const adaptive_max_pool2d = adaptiveMax(2)
