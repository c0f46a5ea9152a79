import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as cpu from '../cpu/grid-sample.js'
import { throughFloat } from './support/through-float.js'

const BILINEAR = 0

/** Samples are mixed in float32, as in PyTorch. */
export function grid_sampler_2d(input: Tensor, grid: Tensor, interpolation: number, padding: number, align: boolean): Tensor {
  check(interpolation === BILINEAR, () => 'grid_sampler: quantized tensors can only be sampled with bilinear interpolation')
  check(grid.type === DType.float32, () => `grid_sampler: expected a float32 grid, found ${grid.dtype}`)
  return throughFloat(input, (x) => cpu.grid_sampler_2d(x, grid, interpolation, padding, align))
}

export function grid_sampler(input: Tensor, grid: Tensor, interpolation: number, padding: number, align: boolean): Tensor {
  check(input.dim === 4, () => `grid_sampler: expected a quantized input of 4 dimensions, found ${input.dim}`)
  return grid_sampler_2d(input, grid, interpolation, padding, align)
}
