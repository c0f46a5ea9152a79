import { check, PtliteError } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'

type One = number | null
type Many = number[] | null
/** One number for all spatial dims, or a list with one for each. */
type Spatial = number | Many

/** Sizes to reach: those asked for, or the input's times the factors. One number stands for every spatial dim. */
function sizesFor(input: Tensor, size: Spatial, factor: Spatial): { sizes: number[]; factors: Many } {
  const spatial = input.shape.slice(2)
  const spread = (value: number | number[]): number[] => (typeof value === 'number' ? spatial.map(() => value) : value)
  if (size !== null) return { sizes: spread(size), factors: null }
  check(factor !== null, () => 'interpolate: expected a size or a scale_factor')
  const factors = spread(factor)
  check(factors.length === spatial.length, () => `interpolate: expected ${spatial.length} scale factors, found ${factors.length}`)
  return { sizes: factors.map((f, d) => Math.floor(spatial[d]! * f)), factors }
}

/** Modes that interpolate, with the number of spatial dims that each needs. */
const SPATIAL: Readonly<Record<string, number>> = { linear: 1, bilinear: 2, bicubic: 2, trilinear: 3 }

/** torch.nn.functional.interpolate as TorchScript's builtin of old models. */
export function __interpolate(
  input: Tensor,
  size: Spatial,
  factor: Spatial,
  mode: string,
  alignCorners: boolean | null,
  recompute: boolean | null,
  antialias: boolean,
): Tensor {
  const fixed = mode === 'nearest' || mode === 'area'
  check(
    fixed || Object.hasOwn(SPATIAL, mode),
    () => `interpolate: expected mode nearest, area, ${Object.keys(SPATIAL).join(', ')}, found '${mode}'`,
  )
  check(!fixed || alignCorners === null, () => `interpolate: align_corners has no meaning for mode '${mode}'`)
  check(input.dim >= 3 && input.dim <= 5, () => `interpolate: expected 3 to 5 dimensions, found ${input.dim}`)
  check(
    fixed || SPATIAL[mode] === input.dim - 2,
    () => `interpolate: mode '${mode}' needs ${SPATIAL[mode]! + 2} dimensions, found ${input.dim}`,
  )
  if (antialias) throw new PtliteError('INVALID_ARGUMENT', 'interpolate: antialias is not supported here; use _upsample_bilinear2d_aa')
  const { sizes, factors } = sizesFor(input, size, factor)
  const used = recompute === false && factors !== null ? factors : sizes.map(() => null)
  return mode === 'area' ? pooled(input, sizes) : resized(input, mode, sizes, used, alignCorners ?? false)
}

function pooled(input: Tensor, sizes: number[]): Tensor {
  if (sizes.length === 1) return at.adaptive_avg_pool1d(input, sizes)
  return sizes.length === 2 ? at.adaptive_avg_pool2d(input, sizes) : at.adaptive_avg_pool3d(input, sizes)
}

function resized(input: Tensor, mode: string, sizes: number[], [a, b, c]: readonly One[], align: boolean): Tensor {
  const [first, second, third] = [a ?? null, b ?? null, c ?? null]
  switch (mode) {
    case 'linear':
      return at.upsample_linear1d(input, sizes, align, first)
    case 'bilinear':
      return at.upsample_bilinear2d(input, sizes, align, first, second)
    case 'bicubic':
      return at.upsample_bicubic2d(input, sizes, align, first, second)
    case 'trilinear':
      return at.upsample_trilinear3d(input, sizes, align, first, second, third)
    default:
      if (input.dim === 3) return at.upsample_nearest1d(input, sizes, first)
      return input.dim === 4
        ? at.upsample_nearest2d(input, sizes, first, second)
        : at.upsample_nearest3d(input, sizes, first, second, third)
  }
}

/** torch.nn.functional.upsample: interpolate with whole factors. */
export function __upsample(input: Tensor, size: Spatial, factor: Spatial, mode: string, alignCorners: boolean | null): Tensor {
  return __interpolate(input, size, factor, mode, alignCorners, null, false)
}

export function __upsample_nearest(input: Tensor, size: Spatial, factor: Spatial): Tensor {
  return __interpolate(input, size, factor, 'nearest', null, null, false)
}

/** Bilinear with corners aligned. */
export function __upsample_bilinear(input: Tensor, size: Spatial, factor: Spatial): Tensor {
  return __interpolate(input, size, factor, 'bilinear', true, null, false)
}

export {
  __interpolate as __interpolate_size_list,
  __interpolate as __interpolate_scale_list,
  __interpolate as __interpolate_size_list_scale_list,
  __upsample as __upsample_size_list,
  __upsample_nearest as __upsample_nearest_size_list,
  __upsample_bilinear as __upsample_bilinear_size_list,
  __upsample_bilinear as __upsample_bilinear_scale_list,
  __upsample_bilinear as __upsample_bilinear_size_list_scale_list,
}
