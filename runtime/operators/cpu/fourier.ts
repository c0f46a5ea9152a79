import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { FourierKind } from '../../native/generated/kernels.js'
import { complexOf, DType, isComplex, realOf } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { wrapDim } from '../../tensor/shape.js'
import { narrow, transpose } from '../../tensor/view.js'
import { castTo, cloneOf, contiguousOf, laidOut } from '../support/copy.js'

/** at::native::fft_norm_mode: what the result is divided by. */
const Norm = { none: 0, rootOfN: 1, n: 2 } as const

function scaleOf(normalization: number, count: number): number {
  if (normalization === Norm.none) return 1
  return normalization === Norm.n ? 1 / count : 1 / Math.sqrt(count)
}

function sizeOver(shape: readonly number[], dims: readonly number[]): number {
  return dims.reduce((n, d) => n * shape[d]!, 1)
}

/** Transforms along `dim`, whose size becomes `n` (pairs of c2c, reals of c2r) or n / 2 + 1 (pairs of r2c). */
function along(self: Tensor, dim: number, kind: number, n: number, inverse: boolean, scale: number): Tensor {
  check(self.dim > 0, () => 'a 0-d tensor has no dimension to transform')
  check(n > 0, () => `expected at least one point to transform, found ${n}`)
  const last = self.dim - 1
  const rows = contiguousOf(transpose(self, dim, last))
  const type = kind === FourierKind.c2r ? realOf(self.type) : complexOf(self.type)
  const out = empty([...rows.shape.slice(0, -1), kind === FourierKind.r2c ? Math.floor(n / 2) + 1 : n], type)
  if (out.numel === 0) return transpose(out, dim, last)
  kernels.fourier({
    kind,
    inverse: Number(inverse),
    dtype: realOf(self.type),
    batch: out.numel / out.shape[last]!,
    n,
    scale,
    in: rows.address,
    out: out.address,
  })
  return transpose(out, dim, last)
}

/**
 * `t`, transformed from `self`, in memory as PyTorch has it: dimensions that are not transformed first, in the order of those of `self`, then the
 * transformed ones, also in that order but for `last`, which comes last where it is given.
 */
function laidOutAsTransformed(t: Tensor, self: Tensor, dims: readonly number[], last: number | null): Tensor {
  const outwards = (a: number, b: number): number => self.strides[b]! - self.strides[a]!
  const others = self.shape.map((_, d) => d).filter((d) => d !== last && !dims.includes(d))
  const order = [...others.sort(outwards), ...[...dims].sort(outwards), ...(last === null ? [] : [last])]
  const strides = new Array<number>(t.dim).fill(1)
  let step = 1
  for (const d of order.reverse()) {
    strides[d] = step
    step *= dims.includes(d) || d === last ? Math.max(t.shape[d]!, 1) : t.shape[d]!
  }
  return laidOut(t, strides)
}

function checkDims(dims: readonly number[], rank: number): number[] {
  const wrapped = dims.map((d) => wrapDim(d, rank))
  check(new Set(wrapped).size === wrapped.length, () => `expected different dims, found [${dims.join(', ')}]`)
  return wrapped
}

function eachAlong(self: Tensor, dims: readonly number[], inverse: boolean): Tensor {
  return dims.reduce((t, dim) => along(t, dim, FourierKind.c2c, t.shape[dim]!, inverse, 1), self)
}

/** Complex to complex along `dims`. */
export function _fft_c2c(self: Tensor, dims: number[], normalization: number, forward: boolean): Tensor {
  if (!isComplex(self.type)) throw new PtliteError('INVALID_DTYPE', `_fft_c2c: expected a complex dtype, found ${self.dtype}`)
  const [first, ...rest] = checkDims(dims, self.dim)
  if (first === undefined) return cloneOf(self)
  const scale = scaleOf(normalization, sizeOver(self.shape, [first, ...rest]))
  const result = along(self, first, FourierKind.c2c, self.shape[first]!, !forward, scale)
  return laidOutAsTransformed(eachAlong(result, rest, !forward), self, [first, ...rest], null)
}

/** Real to complex along `dims`; `onesided` leaves out the half of the last one that the other half tells. */
export function _fft_r2c(self: Tensor, dims: number[], normalization: number, onesided: boolean): Tensor {
  // the kernel writes pairs of the signal's dtype, and there are none of others
  if (self.type !== DType.float32 && self.type !== DType.float64)
    throw new PtliteError('INVALID_DTYPE', `_fft_r2c: expected a float32 or float64 signal, found ${self.dtype}`)
  const wrapped = checkDims(dims, self.dim)
  const last = wrapped.pop()
  check(last !== undefined, () => '_fft_r2c: expected at least one dimension')
  if (!onesided) {
    const whole = _fft_c2c(castTo(self, complexOf(self.type)), dims, normalization, true)
    return laidOutAsTransformed(whole, self, wrapped, last!)
  }
  const scale = scaleOf(normalization, sizeOver(self.shape, [...wrapped, last!]))
  const result = eachAlong(along(self, last!, FourierKind.r2c, self.shape[last!]!, false, scale), wrapped, false)
  return laidOutAsTransformed(result, self, wrapped, last!)
}

/** The inverse of onesided _fft_r2c: `size` reals along the last of `dims`. */
export function _fft_c2r(self: Tensor, dims: number[], normalization: number, size: number): Tensor {
  if (!isComplex(self.type)) throw new PtliteError('INVALID_DTYPE', `_fft_c2r: expected a complex dtype, found ${self.dtype}`)
  const wrapped = checkDims(dims, self.dim)
  const last = wrapped.pop()
  check(last !== undefined, () => '_fft_c2r: expected at least one dimension')
  const needed = Math.floor(size / 2) + 1
  check(
    self.shape[last!]! >= needed,
    () => `_fft_c2r: expected at least ${needed} elements for a signal of ${size}, found ${self.shape[last!]!}`,
  )
  const half = self.shape[last!] === needed ? self : narrow(self, last!, 0, needed)
  const scale = scaleOf(normalization, sizeOver(self.shape, wrapped) * size)
  const others = wrapped.length === 0 ? half : laidOutAsTransformed(eachAlong(half, wrapped, true), half, wrapped, null)
  return laidOutAsTransformed(along(others, last!, FourierKind.c2r, size, true, scale), others, [], last!)
}
