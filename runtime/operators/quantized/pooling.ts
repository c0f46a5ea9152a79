import { check } from '../../error.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { poolSettings } from '../cpu/support/pool.js'
import { adopt } from './support/adopt.js'
import { quantizedAdaptivePool, quantizedAveragePool, quantizedMaxPool } from './support/pool.js'
import type { QuantizedCPU } from '../support/generated/interfaces.js'

/** Pooling of 8-bit integers; results keep scale and zero point of the input. */

function finish(result: Tensor, out: Tensor | undefined): Tensor {
  return out === undefined ? result : adopt(out, result)
}

/** A row of one dimension as an image of height 1. */
function asImage(t: Tensor): Tensor {
  const [shape, strides] = [t.shape, t.strides]
  const last = t.dim - 1
  return viewOf(t, [...shape.slice(0, last), 1, shape[last]!], [...strides.slice(0, last), shape[last]! * strides[last]!, strides[last]!])
}

function asRow(t: Tensor): Tensor {
  const at = t.dim - 2
  return viewOf(
    t,
    t.shape.filter((_, d) => d !== at),
    t.strides.filter((_, d) => d !== at),
  )
}

/** Lists of one number become those of an image of height 1. */
function asPair(list: readonly number[], filler: number): number[] {
  return list.length === 0 ? [] : [filler, list[0]!]
}

export const avg_pool1d: QuantizedCPU['avg_pool1d'] = (t, window, stride, padding, ceilMode, countIncludePad) => {
  const settings = poolSettings('avg_pool1d', 2, asPair(window, 1), asPair(stride, 1), asPair(padding, 0), [1, 1], ceilMode)
  return asRow(quantizedAveragePool(asImage(t), 'avg_pool1d', settings, countIncludePad, null))
}

function average(count: number): QuantizedCPU['quantized_avg_pool2d'] {
  const operator = `avg_pool${count}d`
  return (t, window, stride, padding, ceilMode, countIncludePad, divisor, out) => {
    const settings = poolSettings(operator, count, window, stride, padding, [1], ceilMode)
    return finish(quantizedAveragePool(t, operator, settings, countIncludePad, divisor), out)
  }
}

export const quantized_avg_pool2d = average(2)
export const quantized_avg_pool3d = average(3)

export function adaptive_avg_pool1d(t: Tensor, size: number[]): Tensor {
  return asRow(quantizedAdaptivePool(asImage(t), 'adaptive_avg_pool1d', 2, asPair(size, 1)))
}

export function quantized_adaptive_avg_pool2d(t: Tensor, size: number[], out?: Tensor): Tensor {
  return finish(quantizedAdaptivePool(t, 'adaptive_avg_pool2d', 2, size), out)
}

export function quantized_adaptive_avg_pool3d(t: Tensor, size: number[], out?: Tensor): Tensor {
  return finish(quantizedAdaptivePool(t, 'adaptive_avg_pool3d', 3, size), out)
}

export function max_pool1d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceilMode: boolean,
): Tensor {
  const settings = poolSettings('max_pool1d', 2, asPair(window, 1), asPair(stride, 1), asPair(padding, 0), asPair(dilation, 1), ceilMode)
  return asRow(quantizedMaxPool(asImage(t), 'max_pool1d', settings))
}

export function max_pool2d(
  t: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceilMode: boolean,
): Tensor {
  return quantizedMaxPool(t, 'max_pool2d', poolSettings('max_pool2d', 2, window, stride, padding, dilation, ceilMode))
}

/** Of [N, C, D, H, W]. */
export const quantized_max_pool3d: QuantizedCPU['quantized_max_pool3d'] = (t, window, stride, padding, dilation, ceilMode) => {
  check(t.dim === 5, () => `quantized_max_pool3d: expected 5 dimensions, found ${t.dim}`)
  return quantizedMaxPool(t, 'quantized_max_pool3d', poolSettings('quantized_max_pool3d', 3, window, stride, padding, dilation, ceilMode))
}
