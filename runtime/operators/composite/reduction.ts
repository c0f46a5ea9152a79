import { check, PtliteError } from '../../error.js'
import { DType, dtypeName, isFloating, isIntegral } from '../../tensor/dtype.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { contiguousStrides, wrapDim } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, cloneOf, contiguousOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { reducedDims, reducedShape } from '../../shapes/dims.js'
import { expandTo, reshaped, zerosOf } from '../support/make.js'
import * as at from '../generated/dispatch.js'
import { real } from './complex-views.js'
import { cat } from './cat.js'

/** A view of `length` elements along `dim`, from `start` on. */
function narrowed(t: Tensor, dim: number, start: number, length: number): Tensor {
  const shape = t.shape.map((n, d) => (d === dim ? length : n))
  return viewOf(t, shape, t.strides, t.offset + start * (t.strides[dim] ?? 0))
}

/** torch.logsumexp: log of the sum of exponentials, shifted by the largest element. Integers go to float32. */
export function logsumexp(self: Tensor, dim: number[], keepdim: boolean): Tensor {
  const x = isIntegral(self.type, true) ? castTo(self, DType.float32) : self
  if (x.numel === 0) return at.log(at.sum_dim_IntList(at.exp(x), dim, keepdim, null))
  check(dim.length > 0 || keepdim || self.dim === 0, () => 'logsumexp: expected at least one dim to fold')
  // complex numbers are shifted by the largest real part
  const peak = at.amax(real(x), dim, true)
  const shift = at.masked_fill_Scalar(peak, at.isinf(peak), 0)
  const sum = at.sum_dim_IntList(at.exp(at.sub_Tensor(x, shift, 1)), dim, keepdim, null)
  return at.add_Tensor(at.log(sum), reshaped(shift, sum.shape), 1)
}

export function logsumexp_out(self: Tensor, dim: number[], keepdim: boolean, out: Tensor): Tensor {
  return writeOut(logsumexp(self, dim, keepdim), out)
}

/** torch.nanmean: the mean of what is not NaN. */
export function nanmean(self: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null): Tensor {
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `nanmean: expected a floating point dtype, found ${self.dtype}`)
  const counted = at.sum_dim_IntList(at.logical_not(at.isnan(self)), dim, keepdim, DType.int64)
  return at.div_Tensor(at.nansum(self, dim, keepdim, dtype), counted)
}

const INTERPOLATIONS = ['linear', 'lower', 'higher', 'midpoint', 'nearest']

function quantiles(self: Tensor, q: Tensor, dim: number | null, keepdim: boolean, interpolation: string, skipNan: boolean): Tensor {
  check(self.numel > 0, () => 'quantile: expected a tensor with elements')
  check(q.dim <= 1, () => `quantile: expected q to be a number or a list, found ${q.dim} dimensions`)
  if ((self.type !== DType.float32 && self.type !== DType.float64) || q.type !== self.type) {
    throw new PtliteError('INVALID_DTYPE', `quantile: expected float32 or float64 for both, found ${self.dtype} and ${dtypeName(q.type)}`)
  }
  check(
    INTERPOLATIONS.includes(interpolation),
    () => `quantile: expected interpolation ${INTERPOLATIONS.join(', ')}, found '${interpolation}'`,
  )
  const folded = reducedDims(dim === null ? null : [dim], self.dim)
  const shape = reducedShape(self.shape, folded, keepdim)
  const along = dim === null ? null : wrapDim(dim, self.dim)
  const sorted = sortedRows(self, along)
  const [rows, n] = sorted.shape as [number, number]
  const last = new Float(n - 1)
  const wanted = reshaped(q, [1, q.numel])
  let ranks: Tensor
  if (skipNan) {
    const counted = at.sum_dim_IntList(at.logical_not(at.isnan(sorted)), [1], true, DType.int64)
    ranks = at.clamp_min(at.mul_Tensor(wanted, castTo(at.add_Scalar(counted, -1, 1), self.type)), 0)
  } else {
    const spoilt = at.isnan(narrowed(sorted, 1, n - 1, 1))
    ranks = at.masked_fill_Scalar(expandTo(at.mul_Scalar(wanted, last), [rows, q.numel]), spoilt, last)
  }
  return leading(pick(sorted, expandTo(ranks, [rows, q.numel]), interpolation), shape, q)
}

/** The rows to take quantiles of, sorted, as a matrix: lines along `dim`, or the whole tensor. */
function sortedRows(self: Tensor, dim: number | null): Tensor {
  if (dim === null || self.dim === 0) return at.sort(reshaped(self, [1, self.numel]), -1, false)[0]
  const order = [...self.shape.map((_, d) => d).filter((d) => d !== dim), dim]
  const moved = viewOf(self, order.map((d) => self.shape[d]!), order.map((d) => self.strides[d]!)) // prettier-ignore
  const n = self.shape[dim]!
  return at.sort(reshaped(moved, [self.numel / n, n]), -1, false)[0]
}

function pick(sorted: Tensor, ranks: Tensor, interpolation: string): Tensor {
  const position = { lower: at.floor, higher: at.ceil, nearest: at.round }[interpolation]
  if (position !== undefined) return at.gather(sorted, 1, castTo(position(ranks), DType.int64), false)
  const floor = at.floor(ranks)
  const below = at.gather(sorted, 1, castTo(floor, DType.int64), false)
  const above = at.gather(sorted, 1, castTo(at.ceil(ranks), DType.int64), false)
  const part =
    interpolation === 'midpoint' ? at.mul_Scalar(at.sub_Tensor(at.ceil(ranks), floor, 1), new Float(0.5)) : at.sub_Tensor(ranks, floor, 1)
  return at.lerp_Tensor(below, above, part)
}

/** rows x quantiles in the shape of the result: quantiles first where q is a list, though they lie side by side. */
function leading(found: Tensor, shape: readonly number[], q: Tensor): Tensor {
  if (q.dim === 0) return reshaped(found, shape)
  const count = q.numel
  const strides = contiguousStrides([...shape, count])
  return viewOf(contiguousOf(found), [count, ...shape], [1, ...strides.slice(0, -1)])
}

/** torch.quantile at the fractions q (0-d: one result; a list: results along a new first dim). */
export function quantile(self: Tensor, q: Tensor, dim: number | null, keepdim: boolean, interpolation: string): Tensor {
  return quantiles(self, q, dim, keepdim, interpolation, false)
}

function oneFraction(self: Tensor, q: number): Tensor {
  check(q >= 0 && q <= 1, () => `quantile: expected a fraction from 0 to 1, found ${q}`)
  return at.add_Scalar(zerosOf([], self.type), new Float(q), 1)
}

export function quantile_scalar(self: Tensor, q: number, dim: number | null, keepdim: boolean, interpolation: string): Tensor {
  return quantiles(self, oneFraction(self, q), dim, keepdim, interpolation, false)
}

/** torch.nanquantile: quantiles of what is not NaN. */
export function nanquantile(self: Tensor, q: Tensor, dim: number | null, keepdim: boolean, interpolation: string): Tensor {
  return quantiles(self, q, dim, keepdim, interpolation, true)
}

export function nanquantile_scalar(self: Tensor, q: number, dim: number | null, keepdim: boolean, interpolation: string): Tensor {
  return quantiles(self, oneFraction(self, q), dim, keepdim, interpolation, true)
}

/** torch.diff: the n-th difference along `dim`, after joining `prepend` and `append` to the ends. */
export function diff(self: Tensor, n: number, dim: number, prepend: Tensor | null, append: Tensor | null): Tensor {
  check(self.dim > 0, () => 'diff: expected at least one dimension')
  check(n >= 0, () => `diff: expected n of at least 0, found ${n}`)
  if (n === 0) return cloneOf(self)
  const along = wrapDim(dim, self.dim)
  const parts = [prepend, self, append].filter((t) => t !== null)
  let result = parts.length > 1 ? cat(parts, along) : self
  for (let k = 0; k < Math.min(n, result.shape[along]! + k); k++) {
    const size = result.shape[along]!
    if (size === 0) break
    const [later, earlier] = [narrowed(result, along, 1, size - 1), narrowed(result, along, 0, size - 1)]
    result = result.type === DType.bool ? at.logical_xor(later, earlier) : at.sub_Tensor(later, earlier, 1)
  }
  return result
}

/** All elements along `dim` but the last, and all but the first; none where there are fewer than two. */
function neighbours(t: Tensor, dim: number): [Tensor, Tensor] {
  const n = t.shape[dim]!
  return [narrowed(t, dim, 0, Math.max(n - 1, 0)), narrowed(t, dim, Math.min(n, 1), Math.max(n - 1, 0))]
}

/** Sums of neighbours along `dim`, each the two sides of a trapezoid. */
function sides(y: Tensor, dim: number): Tensor {
  check(y.dim > 0, () => 'trapezoid: a 0-d tensor has no dimension to integrate over')
  if (y.type === DType.bool) throw new PtliteError('INVALID_DTYPE', 'trapezoid: bool values cannot be integrated')
  const [left, right] = neighbours(y, dim)
  return at.add_Tensor(left, right, 1)
}

/** Widths of the trapezoids for sample points x, ready to be broadcast against y. */
function widths(y: Tensor, x: Tensor, dim: number): Tensor {
  const along = x.dim === 1 ? 0 : wrapDim(dim, x.dim)
  check(
    x.dim > 0 && x.shape[along] === y.shape[dim],
    () => `trapezoid: expected as many sample points as values, found [${x.shape.join(', ')}] and [${y.shape.join(', ')}]`,
  )
  const [left, right] = neighbours(x, along)
  const width = at.sub_Tensor(right, left, 1)
  return x.dim === 1 ? reshaped(width, y.shape.map((_, d) => (d === dim ? width.numel : 1))) : width // prettier-ignore
}

function area(y: Tensor, dim: number, width: Tensor | number): Tensor {
  const along = wrapDim(dim, y.dim)
  if ((y.shape[along] ?? 0) === 0) return at.sum_dim_IntList(y, [along], false, isFloating(y.type) ? null : DType.float32)
  const strips =
    typeof width === 'number'
      ? at.mul_Scalar(sides(y, along), new Float(width / 2))
      : at.div_Scalar(at.mul_Tensor(width, sides(y, along)), new Float(2))
  return at.sum_dim_IntList(strips, [along], false, null)
}

/** torch.trapezoid: the integral along `dim` over sample points x. */
export function trapezoid_x(y: Tensor, x: Tensor, dim: number): Tensor {
  const along = wrapDim(dim, y.dim)
  return area(y, along, y.shape[along] === 0 ? 1 : widths(y, x, along))
}

/** torch.trapezoid over evenly spaced points. */
export function trapezoid_dx(y: Tensor, dx: Scalar, dim: number): Tensor {
  return area(y, dim, scalarToNumber(dx))
}

export function trapz_x(y: Tensor, x: Tensor, dim: number): Tensor {
  return trapezoid_x(y, x, dim)
}

export function trapz_dx(y: Tensor, dx: number, dim: number): Tensor {
  return area(y, dim, dx)
}

/** torch.cumulative_trapezoid over sample points x. */
export function cumulative_trapezoid_x(y: Tensor, x: Tensor, dim: number): Tensor {
  const along = wrapDim(dim, y.dim)
  return at.div_Scalar(at.cumsum(at.mul_Tensor(widths(y, x, along), sides(y, along)), along, null), new Float(2))
}

export function cumulative_trapezoid_dx(y: Tensor, dx: Scalar, dim: number): Tensor {
  const along = wrapDim(dim, y.dim)
  return at.mul_Scalar(at.cumsum(sides(y, along), along, null), new Float(scalarToNumber(dx) / 2))
}
