import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { deliverExact } from '../support/deliver.js'
import { resample, type ResampleModeName, sizesOf } from './support/resample.js'

type Sizes = number[]
type Factor = number | null

function toSize(
  operator: string,
  mode: ResampleModeName,
  self: Tensor,
  size: Sizes,
  align: boolean,
  factors: readonly Factor[],
  out?: Tensor,
): Tensor {
  check(size.length === factors.length, () => `${operator}: expected ${factors.length} output sizes, found ${size.length}`)
  return deliverExact(resample(operator, mode, self, size, factors, align), out, operator)
}

function bySizeOrFactor(
  operator: string,
  mode: ResampleModeName,
  input: Tensor,
  size: Sizes | null,
  align: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  const rank = Number(/\d/.exec(operator)) + 2
  check(input.dim === rank, () => `${operator}: expected ${rank} dimensions, found ${input.dim}`)
  const { output, scales } = sizesOf(operator, input, size, factors)
  return deliverExact(resample(operator, mode, input, output, scales, align), out, operator)
}

/** torch.nn.functional.interpolate, nearest: the element at floor(output index * scale). */
export function upsample_nearest1d(self: Tensor, size: Sizes, scales: Factor, out?: Tensor): Tensor {
  return toSize('upsample_nearest1d', 'nearest', self, size, false, [scales], out)
}

export function upsample_nearest1d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('upsample_nearest1d', 'nearest', input, size, false, factors, out)
}

export function upsample_nearest2d(self: Tensor, size: Sizes, scalesH: Factor, scalesW: Factor, out?: Tensor): Tensor {
  return toSize('upsample_nearest2d', 'nearest', self, size, false, [scalesH, scalesW], out)
}

export function upsample_nearest2d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('upsample_nearest2d', 'nearest', input, size, false, factors, out)
}

export function upsample_nearest3d(self: Tensor, size: Sizes, scalesD: Factor, scalesH: Factor, scalesW: Factor, out?: Tensor): Tensor {
  return toSize('upsample_nearest3d', 'nearest', self, size, false, [scalesD, scalesH, scalesW], out)
}

export function upsample_nearest3d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('upsample_nearest3d', 'nearest', input, size, false, factors, out)
}

/** As upsample_nearest, from the centres of the cells. */
export function _upsample_nearest_exact1d(self: Tensor, size: Sizes, scales: Factor, out?: Tensor): Tensor {
  return toSize('_upsample_nearest_exact1d', 'nearest_exact', self, size, false, [scales], out)
}

export function _upsample_nearest_exact1d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('_upsample_nearest_exact1d', 'nearest_exact', input, size, false, factors, out)
}

export function _upsample_nearest_exact2d(self: Tensor, size: Sizes, scalesH: Factor, scalesW: Factor, out?: Tensor): Tensor {
  return toSize('_upsample_nearest_exact2d', 'nearest_exact', self, size, false, [scalesH, scalesW], out)
}

export function _upsample_nearest_exact2d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('_upsample_nearest_exact2d', 'nearest_exact', input, size, false, factors, out)
}

export function _upsample_nearest_exact3d(
  self: Tensor,
  size: Sizes,
  scalesD: Factor,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('_upsample_nearest_exact3d', 'nearest_exact', self, size, false, [scalesD, scalesH, scalesW], out)
}

export function _upsample_nearest_exact3d_vec(input: Tensor, size: Sizes | null, factors: number[] | null, out?: Tensor): Tensor {
  return bySizeOrFactor('_upsample_nearest_exact3d', 'nearest_exact', input, size, false, factors, out)
}

/** Linear interpolation over one, two or three dims. */
export function upsample_linear1d(self: Tensor, size: Sizes, alignCorners: boolean, scales: Factor, out?: Tensor): Tensor {
  return toSize('upsample_linear1d', 'linear', self, size, alignCorners, [scales], out)
}

export function upsample_linear1d_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('upsample_linear1d', 'linear', input, size, alignCorners, factors, out)
}

export function upsample_bilinear2d(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('upsample_bilinear2d', 'linear', self, size, alignCorners, [scalesH, scalesW], out)
}

export function upsample_bilinear2d_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('upsample_bilinear2d', 'linear', input, size, alignCorners, factors, out)
}

export function upsample_trilinear3d(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesD: Factor,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('upsample_trilinear3d', 'linear', self, size, alignCorners, [scalesD, scalesH, scalesW], out)
}

export function upsample_trilinear3d_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('upsample_trilinear3d', 'linear', input, size, alignCorners, factors, out)
}

/** Cubic convolution with a = -0.75. */
export function upsample_bicubic2d(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('upsample_bicubic2d', 'cubic', self, size, alignCorners, [scalesH, scalesW], out)
}

export function upsample_bicubic2d_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('upsample_bicubic2d', 'cubic', input, size, alignCorners, factors, out)
}

/** Interpolation with a filter as wide as the reduction, as image libraries do. */
export function _upsample_bilinear2d_aa(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('_upsample_bilinear2d_aa', 'linear_aa', self, size, alignCorners, [scalesH, scalesW], out)
}

export function _upsample_bilinear2d_aa_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('_upsample_bilinear2d_aa', 'linear_aa', input, size, alignCorners, factors, out)
}

export function _upsample_bicubic2d_aa(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('_upsample_bicubic2d_aa', 'cubic_aa', self, size, alignCorners, [scalesH, scalesW], out)
}

export function _upsample_bicubic2d_aa_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('_upsample_bicubic2d_aa', 'cubic_aa', input, size, alignCorners, factors, out)
}

export function _upsample_lanczos2d_aa(
  self: Tensor,
  size: Sizes,
  alignCorners: boolean,
  scalesH: Factor,
  scalesW: Factor,
  out?: Tensor,
): Tensor {
  return toSize('_upsample_lanczos2d_aa', 'lanczos_aa', self, size, alignCorners, [scalesH, scalesW], out)
}

export function _upsample_lanczos2d_aa_vec(
  input: Tensor,
  size: Sizes | null,
  alignCorners: boolean,
  factors: number[] | null,
  out?: Tensor,
): Tensor {
  return bySizeOrFactor('_upsample_lanczos2d_aa', 'lanczos_aa', input, size, alignCorners, factors, out)
}
