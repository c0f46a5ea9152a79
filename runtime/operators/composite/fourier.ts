import { check, PtliteError } from '../../error.js'
import { complexOf, DType, dtypeName, isComplex, isFloating, isQuantized } from '../../tensor/dtype.js'
import { tensorOfDoubles } from '../../tensor/host-values.js'
import type { TensorOptions } from '../../tensor/options.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { narrow } from '../../tensor/view.js'
import { castTo, cloneOf, copyInto } from '../support/copy.js'
import { zerosOf } from '../support/make.js'
import * as at from '../generated/dispatch.js'
import { roll } from './shape.js'
import { conj } from './complex-views.js'

/** torch.fft: transforms of one, two and several dimensions, made of the three in ../cpu/fourier.ts. */

type Norm = string | null

/** The number of at::native::fft_norm_mode for a `norm` argument. */
function normalization(norm: Norm, forward: boolean): number {
  switch (norm) {
    case null:
    case 'backward':
      return forward ? 0 : 2
    case 'forward':
      return forward ? 2 : 0
    case 'ortho':
      return 1
    default:
      throw new PtliteError('INVALID_ARGUMENT', `expected norm 'backward', 'forward' or 'ortho', found '${norm}'`)
  }
}

/** Integers become float32, and real numbers complex where asked for. */
function promoted(self: Tensor, toComplex: boolean): Tensor {
  const { type } = self
  if (type === DType.float16 || type === DType.bfloat16 || isQuantized(type)) {
    throw new PtliteError('INVALID_DTYPE', `Fourier transforms are not implemented for dtype ${dtypeName(type)}`)
  }
  const floating = isFloating(type) || isComplex(type) ? type : DType.float32
  return castTo(self, toComplex ? complexOf(floating) : floating)
}

function realSignal(self: Tensor, operator: string): Tensor {
  if (isComplex(self.type)) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a real input, found ${self.dtype}`)
  return promoted(self, false)
}

/** Cut, or filled up with zeros, to `sizes` along `dims`. */
function resized(self: Tensor, dims: readonly number[], sizes: readonly number[]): Tensor {
  let result = self
  dims.forEach((dim, i) => {
    const [found, wanted] = [result.shape[dim]!, sizes[i]!]
    if (wanted < found) result = narrow(result, dim, 0, wanted)
    else if (wanted > found) {
      const padded = zerosOf(
        result.shape.map((n, d) => (d === dim ? wanted : n)),
        result.type,
      )
      copyInto(narrow(padded, dim, 0, found), result)
      result = padded
    }
  })
  return result
}

function checkPoints(n: number): number {
  check(n >= 1, () => `expected at least one point to transform, found ${n}`)
  return n
}

interface Plan {
  readonly dims: number[]
  readonly sizes: number[]
}

/** The dimensions of an n-dimensional transform and the sizes that the signal gets along them. */
function planOf(self: Tensor, s: readonly number[] | null, dim: readonly number[] | null): Plan {
  const rank = self.dim
  let dims: number[]
  if (dim !== null) {
    dims = dim.map((d) => wrapDim(d, rank))
    check(new Set(dims).size === dims.length, () => `expected different dims, found [${dim.join(', ')}]`)
    check(s === null || s.length === dims.length, () => `expected as many sizes as dims (${dims.length}), found ${s!.length}`)
  } else {
    check(s === null || s.length <= rank, () => `expected at most ${rank} sizes, found ${s!.length}`)
    dims = Array.from({ length: s?.length ?? rank }, (_, i) => i + rank - (s?.length ?? rank))
  }
  const sizes = dims.map((d, i) => (s === null || s[i] === -1 ? self.shape[d]! : s[i]!))
  sizes.forEach(checkPoints)
  return { dims, sizes }
}

/** As planOf, for transforms that give a real signal: its last size, and that of the half spectrum it comes from. */
function planOfReal(self: Tensor, s: readonly number[] | null, dim: readonly number[] | null, operator: string): Plan & { last: number } {
  const { dims, sizes } = planOf(self, s, dim)
  const at = dims.length - 1
  check(at >= 0, () => `${operator}: expected at least one dimension`)
  const last = checkPoints(s === null || s[at] === -1 ? 2 * (self.shape[dims[at]!]! - 1) : s[at]!)
  sizes[at] = Math.floor(last / 2) + 1
  return { dims, sizes, last }
}

function oneDim(self: Tensor, n: number | null, dim: number): Plan {
  const d = wrapDim(dim, self.dim)
  return { dims: [d], sizes: [checkPoints(n ?? self.shape[d] ?? 1)] }
}

function complexToComplex(self: Tensor, { dims, sizes }: Plan, norm: Norm, forward: boolean): Tensor {
  return at._fft_c2c(resized(promoted(self, true), dims, sizes), dims, normalization(norm, forward), forward)
}

function realToHalf(self: Tensor, { dims, sizes }: Plan, norm: Norm, forward: boolean, operator: string): Tensor {
  return at._fft_r2c(resized(realSignal(self, operator), dims, sizes), dims, normalization(norm, forward), true)
}

/** A half spectrum to a real signal of `size`. */
function halfToReal(self: Tensor, n: number | null, dim: number, norm: Norm, forward: boolean): Tensor {
  const d = wrapDim(dim, self.dim)
  const size = checkPoints(n ?? 2 * ((self.shape[d] ?? 1) - 1))
  const half = resized(promoted(self, true), [d], [Math.floor(size / 2) + 1])
  return at._fft_c2r(forward ? conj(half) : half, [d], normalization(norm, forward), size)
}

export function fft_fft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return complexToComplex(self, oneDim(self, n, dim), norm, true)
}

export function fft_ifft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return complexToComplex(self, oneDim(self, n, dim), norm, false)
}

export function fft_rfft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return realToHalf(self, oneDim(self, n, dim), norm, true, 'rfft')
}

export function fft_irfft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return halfToReal(self, n, dim, norm, false)
}

export function fft_hfft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return halfToReal(self, n, dim, norm, true)
}

export function fft_ihfft(self: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return conj(realToHalf(self, oneDim(self, n, dim), norm, false, 'ihfft'))
}

export function fft_fftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  return complexToComplex(self, planOf(self, s, dim), norm, true)
}

export function fft_ifftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  return complexToComplex(self, planOf(self, s, dim), norm, false)
}

export function fft_rfftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  const plan = planOf(self, s, dim)
  check(plan.dims.length > 0, () => 'rfftn: expected at least one dimension')
  return realToHalf(self, plan, norm, true, 'rfftn')
}

export function fft_irfftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  const { dims, sizes, last } = planOfReal(self, s, dim, 'irfftn')
  return at._fft_c2r(resized(promoted(self, true), dims, sizes), dims, normalization(norm, false), last)
}

/** The other dimensions forward, then the last one as hfft does. */
export function fft_hfftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  const { dims, sizes, last } = planOfReal(self, s, dim, 'hfftn')
  const mode = normalization(norm, true)
  const others = at._fft_c2c(resized(promoted(self, true), dims, sizes), dims.slice(0, -1), mode, true)
  return at._fft_c2r(conj(others), dims.slice(-1), mode, last)
}

/** The last dimension as ihfft does, then the others. */
export function fft_ihfftn(self: Tensor, s: number[] | null, dim: number[] | null, norm: Norm): Tensor {
  const { dims, sizes } = planOf(self, s, dim)
  check(dims.length > 0, () => 'ihfftn: expected at least one dimension')
  const mode = normalization(norm, false)
  const half = at._fft_r2c(resized(realSignal(self, 'ihfftn'), dims, sizes), dims.slice(-1), mode, true)
  return at._fft_c2c(conj(half), dims.slice(0, -1), mode, false)
}

export {
  fft_fftn as fft_fft2,
  fft_ifftn as fft_ifft2,
  fft_rfftn as fft_rfft2,
  fft_irfftn as fft_irfft2,
  fft_hfftn as fft_hfft2,
  fft_ihfftn as fft_ihfft2,
}

function frequencies(count: number, spacing: number, n: number, options: TensorOptions, index: (i: number) => number): Tensor {
  const out = empty([count], options.dtype ?? DType.float32)
  copyInto(out, tensorOfDoubles(Float64Array.from({ length: count }, (_, i) => index(i) / (n * spacing))))
  return out
}

/** Centres of the bins of fft over n points, in cycles per unit of `spacing`. */
export function fft_fftfreq(n: number, spacing: number, options: TensorOptions): Tensor {
  check(n >= 0, () => `fftfreq: expected at least 0 points, found ${n}`)
  return frequencies(n, spacing, n, options, (i) => (i < Math.floor((n + 1) / 2) ? i : i - n))
}

/** As fftfreq, of rfft. */
export function fft_rfftfreq(n: number, spacing: number, options: TensorOptions): Tensor {
  check(n >= 0, () => `rfftfreq: expected at least 0 points, found ${n}`)
  return frequencies(Math.floor(n / 2) + 1, spacing, n, options, (i) => i)
}

function shifted(self: Tensor, dim: number[] | null, by: (size: number) => number): Tensor {
  const dims = dim === null ? self.shape.map((_, d) => d) : dim.map((d) => wrapDim(d, self.dim))
  if (dims.length === 0) return cloneOf(self)
  return roll(
    self,
    dims.map((d) => by(self.shape[d]!)),
    dims,
  )
}

/** The bin of frequency 0 to the middle. */
export function fft_fftshift(self: Tensor, dim: number[] | null): Tensor {
  return shifted(self, dim, (size) => Math.floor(size / 2))
}

export function fft_ifftshift(self: Tensor, dim: number[] | null): Tensor {
  return shifted(self, dim, (size) => Math.floor((size + 1) / 2))
}
