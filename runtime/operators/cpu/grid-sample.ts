import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { isFloating } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'

function sample(
  operator: string,
  spatial: number,
  input: Tensor,
  grid: Tensor,
  interpolation: number,
  padding: number,
  align: boolean,
): Tensor {
  check(input.dim === spatial + 2 && grid.dim === spatial + 2, () =>
    `${operator}: expected input and grid of ${spatial + 2} dimensions, found ${input.dim} and ${grid.dim}`,
  ) // prettier-ignore
  if (!isFloating(input.type) || input.type !== grid.type) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `${operator}: expected input and grid of one floating point dtype, found ${input.dtype} and ${grid.dtype}`,
    )
  }
  check(input.shape[0] === grid.shape[0], () => `${operator}: expected one batch size, found ${input.shape[0]} and ${grid.shape[0]}`)
  check(
    grid.shape[spatial + 1] === spatial,
    () => `${operator}: expected ${spatial} coordinates per point, found ${grid.shape[spatial + 1]}`,
  )
  check(input.shape.slice(2).every((n) => n > 0), () => `${operator}: expected spatial elements, found [${input.shape.join(', ')}]`) // prettier-ignore
  check(interpolation >= 0 && interpolation <= 2, () => `${operator}: expected interpolation mode 0 to 2, found ${interpolation}`)
  check(padding >= 0 && padding <= 2, () => `${operator}: expected padding mode 0 to 2, found ${padding}`)
  check(spatial === 2 || interpolation < 2, () => `${operator}: bicubic interpolation needs 4 dimensions`)
  const [batch, channels] = input.shape
  const points = grid.shape.slice(1, -1)
  const out = empty([batch!, channels!, ...points], input.type)
  if (out.numel === 0) return out
  const data = contiguousOf(input)
  const places = contiguousOf(grid)
  kernels.grid_sample({
    interpolation,
    padding,
    dtype: input.type,
    spatial,
    align_corners: align ? 1 : 0,
    batch: batch!,
    channels: channels!,
    points: points.reduce((a, b) => a * b, 1),
    in_sizes: spatial === 2 ? [1, ...input.shape.slice(2)] : input.shape.slice(2),
    in: data.address,
    grid: places.address,
    out: out.address,
  })
  return out
}

/** torch.nn.functional.grid_sample on images; modes are numbered bilinear, nearest, bicubic and zeros, border, reflection. */
export function grid_sampler_2d(input: Tensor, grid: Tensor, interpolation: number, padding: number, align: boolean): Tensor {
  return sample('grid_sampler_2d', 2, input, grid, interpolation, padding, align)
}

export function grid_sampler_3d(input: Tensor, grid: Tensor, interpolation: number, padding: number, align: boolean): Tensor {
  return sample('grid_sampler_3d', 3, input, grid, interpolation, padding, align)
}

export function grid_sampler(input: Tensor, grid: Tensor, interpolation: number, padding: number, align: boolean): Tensor {
  const spatial = input.dim - 2
  check(spatial === 2 || spatial === 3, () => `grid_sampler: expected 4 or 5 dimensions, found ${input.dim}`)
  return sample('grid_sampler', spatial, input, grid, interpolation, padding, align)
}

/** torch.nn.functional.affine_grid: sampling points for N x C x (D x) H x W under one affine map per batch element. */
export function affine_grid_generator(theta: Tensor, size: number[], align: boolean): Tensor {
  const spatial = size.length - 2
  check(spatial === 2 || spatial === 3, () => `affine_grid_generator: expected a size of 4 or 5 numbers, found ${size.length}`)
  if (!isFloating(theta.type))
    throw new PtliteError('INVALID_DTYPE', `affine_grid_generator: expected a floating point theta, found ${theta.dtype}`)
  check(theta.dim === 3 && theta.shape[0] === size[0] && theta.shape[1] === spatial && theta.shape[2] === spatial + 1, () =>
    `affine_grid_generator: expected theta [${size[0]}, ${spatial}, ${spatial + 1}], found [${theta.shape.join(', ')}]`,
  ) // prettier-ignore
  const sizes = size.slice(2)
  const out = empty([size[0]!, ...sizes, spatial], theta.type)
  if (out.numel === 0) return out
  const maps = contiguousOf(theta)
  kernels.affine_grid({
    dtype: theta.type,
    spatial,
    align_corners: align ? 1 : 0,
    batch: size[0]!,
    sizes: spatial === 2 ? [1, ...sizes] : sizes,
    theta: maps.address,
    out: out.address,
  })
  return out
}
