import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOutExact } from '../support/write-out.js'
import type { CPU } from '../support/generated/interfaces.js'
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
  return writeOutExact(resample(operator, mode, self, size, factors, align), out, operator)
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
  return writeOutExact(resample(operator, mode, input, output, scales, align), out, operator)
}

// operators that take the same arguments are alike but for name and mode

type Form<Operator extends keyof CPU> = (operator: string, mode: ResampleModeName) => CPU[Operator]

const moved1d: Form<'upsample_nearest1d'> = (operator, mode) => (self, size, scales, out) =>
  toSize(operator, mode, self, size, false, [scales], out)
const moved2d: Form<'upsample_nearest2d'> = (operator, mode) => (self, size, scalesH, scalesW, out) =>
  toSize(operator, mode, self, size, false, [scalesH, scalesW], out)
const moved3d: Form<'upsample_nearest3d'> = (operator, mode) => (self, size, scalesD, scalesH, scalesW, out) =>
  toSize(operator, mode, self, size, false, [scalesD, scalesH, scalesW], out)
const movedBy: Form<'upsample_nearest1d_vec'> = (operator, mode) => (input, size, factors, out) =>
  bySizeOrFactor(operator, mode, input, size, false, factors, out)
const mixed2d: Form<'upsample_bilinear2d'> = (operator, mode) => (self, size, align, scalesH, scalesW, out) =>
  toSize(operator, mode, self, size, align, [scalesH, scalesW], out)
const mixedBy: Form<'upsample_linear1d_vec'> = (operator, mode) => (input, size, align, factors, out) =>
  bySizeOrFactor(operator, mode, input, size, align, factors, out)

/** torch.nn.functional.interpolate, nearest: the element at floor(output index * scale). */
export const upsample_nearest1d = moved1d('upsample_nearest1d', 'nearest')
export const upsample_nearest1d_vec = movedBy('upsample_nearest1d', 'nearest')
export const upsample_nearest2d = moved2d('upsample_nearest2d', 'nearest')
export const upsample_nearest2d_vec = movedBy('upsample_nearest2d', 'nearest')
export const upsample_nearest3d = moved3d('upsample_nearest3d', 'nearest')
export const upsample_nearest3d_vec = movedBy('upsample_nearest3d', 'nearest')

/** As upsample_nearest, from the centres of the cells. */
export const _upsample_nearest_exact1d = moved1d('_upsample_nearest_exact1d', 'nearest_exact')
export const _upsample_nearest_exact1d_vec = movedBy('_upsample_nearest_exact1d', 'nearest_exact')
export const _upsample_nearest_exact2d = moved2d('_upsample_nearest_exact2d', 'nearest_exact')
export const _upsample_nearest_exact2d_vec = movedBy('_upsample_nearest_exact2d', 'nearest_exact')
export const _upsample_nearest_exact3d = moved3d('_upsample_nearest_exact3d', 'nearest_exact')
export const _upsample_nearest_exact3d_vec = movedBy('_upsample_nearest_exact3d', 'nearest_exact')

/** Linear interpolation over one, two or three dims. */
export const upsample_linear1d: CPU['upsample_linear1d'] = (self, size, align, scales, out) =>
  toSize('upsample_linear1d', 'linear', self, size, align, [scales], out)
export const upsample_linear1d_vec = mixedBy('upsample_linear1d', 'linear')
export const upsample_bilinear2d = mixed2d('upsample_bilinear2d', 'linear')
export const upsample_bilinear2d_vec = mixedBy('upsample_bilinear2d', 'linear')
export const upsample_trilinear3d: CPU['upsample_trilinear3d'] = (self, size, align, scalesD, scalesH, scalesW, out) =>
  toSize('upsample_trilinear3d', 'linear', self, size, align, [scalesD, scalesH, scalesW], out)
export const upsample_trilinear3d_vec = mixedBy('upsample_trilinear3d', 'linear')

/** Cubic convolution with a = -0.75. */
export const upsample_bicubic2d = mixed2d('upsample_bicubic2d', 'cubic')
export const upsample_bicubic2d_vec = mixedBy('upsample_bicubic2d', 'cubic')

/** Interpolation with a filter as wide as the reduction, as image libraries do. */
export const _upsample_bilinear2d_aa = mixed2d('_upsample_bilinear2d_aa', 'linear_aa')
export const _upsample_bilinear2d_aa_vec = mixedBy('_upsample_bilinear2d_aa', 'linear_aa')
export const _upsample_bicubic2d_aa = mixed2d('_upsample_bicubic2d_aa', 'cubic_aa')
export const _upsample_bicubic2d_aa_vec = mixedBy('_upsample_bicubic2d_aa', 'cubic_aa')
export const _upsample_lanczos2d_aa = mixed2d('_upsample_lanczos2d_aa', 'lanczos_aa')
export const _upsample_lanczos2d_aa_vec = mixedBy('_upsample_lanczos2d_aa', 'lanczos_aa')
