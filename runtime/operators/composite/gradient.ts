import { check } from '../../error.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { reshaped } from '../support/make.js'
import * as at from '../generated/dispatch.js'
import { cat } from './cat.js'

/** Distance between samples along a dim, or where each of them lies. */
type Spacing = number | Tensor

const f = (x: number): Float => new Float(x)
const minus = (a: Tensor, b: Tensor): Tensor => at.sub_Tensor(a, b, 1)

/** Slices along `dim` of a tensor with `n` samples there. */
class Samples {
  readonly n: number

  constructor(
    readonly all: Tensor,
    readonly dim: number,
  ) {
    this.n = all.shape[dim]!
  }

  from(start: number, end: number): Tensor {
    return v.slice(this.all, this.dim, start, end)
  }
}

/** The first and last differences: one-sided, of first or second order. `near` and `far` are distances to the next samples. */
function edge(s: Samples, order: number, first: boolean, near: Scalar | Tensor, far: Scalar | Tensor): Tensor {
  const at_ = (i: number): Tensor => (first ? s.from(i, i + 1) : s.from(s.n - 1 - i, s.n - i))
  const over = (x: Tensor, by: Scalar | Tensor): Tensor => (isTensor(by) ? at.div_Tensor(x, by) : at.div_Scalar(x, by))
  const step = over(minus(at_(1), at_(0)), near)
  const forward = first ? step : at.neg(step)
  if (order === 1) return forward
  // the slope of the parabola through the three outermost samples
  const next = over(minus(at_(2), at_(1)), far)
  const second = first ? next : at.neg(next)
  const whole = isTensor(near) ? at.add_Tensor(near, far as Tensor, 1) : f(scalarToNumber(near) + scalarToNumber(far as Scalar))
  const bend = over(minus(second, forward), whole)
  const turn = isTensor(near) ? at.mul_Tensor(bend, near) : at.mul_Scalar(bend, near)
  return minus(forward, turn)
}

function isTensor(x: Scalar | Tensor): x is Tensor {
  return typeof x === 'object' && 'shape' in x
}

/** Differences over an even distance. */
function evenly(s: Samples, h: number, order: number): Tensor {
  const inner = at.div_Scalar(minus(s.from(2, s.n), s.from(0, s.n - 2)), f(2 * h))
  return cat([edge(s, order, true, f(h), f(h)), inner, edge(s, order, false, f(h), f(h))], s.dim)
}

/** Differences between samples at the coordinates `where`, second-order inside. */
function unevenly(s: Samples, where: Tensor, order: number): Tensor {
  const { n, dim } = s
  check(where.dim === 1 && where.numel === n, () => `gradient: expected ${n} coordinates, found shape [${where.shape.join(', ')}]`)
  const steps = minus(v.slice(where, 0, 1), v.slice(where, 0, 0, n - 1))
  const along = (t: Tensor): Tensor => reshaped(t, s.all.shape.map((_, d) => (d === dim ? t.numel : 1))) // prettier-ignore
  const step = (i: number): Tensor => along(v.slice(steps, 0, i, i + 1))
  const before = along(v.slice(steps, 0, 0, n - 2))
  const after = along(v.slice(steps, 0, 1))
  const left = at.div_Tensor(minus(s.from(1, n - 1), s.from(0, n - 2)), before)
  const right = at.div_Tensor(minus(s.from(2, n), s.from(1, n - 1)), after)
  const both = at.add_Tensor(before, after, 1)
  const inner = at.div_Tensor(at.add_Tensor(at.mul_Tensor(left, after), at.mul_Tensor(right, before), 1), both)
  const second = Math.min(1, n - 2)
  const first = edge(s, order, true, step(0), step(second))
  const last = edge(s, order, false, step(n - 2), step(Math.max(n - 3, 0)))
  return cat([first, inner, last], dim)
}

function gradients(self: Tensor, spacing: (i: number) => Spacing, dims: readonly number[], order: number): Tensor[] {
  check(order === 1 || order === 2, () => `gradient: expected edge_order 1 or 2, found ${order}`)
  return dims.map((d, i) => {
    const samples = new Samples(self, wrapDim(d, self.dim))
    check(samples.n > order, () => `gradient: expected at least ${order + 1} samples along dimension ${d}, found ${samples.n}`)
    const by = spacing(i)
    return typeof by === 'number' ? evenly(samples, by, order) : unevenly(samples, by, order)
  })
}

function everyDim(self: Tensor): number[] {
  return self.shape.map((_, d) => d)
}

/** One spacing for each dim. */
function each(spacing: readonly Spacing[], dims: readonly number[]): (i: number) => Spacing {
  check(spacing.length === dims.length, () => `gradient: expected ${dims.length} spacings, found ${spacing.length}`)
  return (i) => spacing[i]!
}

/** torch.gradient: second-order estimates of the derivative along each dim, or along `dim`, from samples `spacing` apart. */
export function gradient_scalarint(self: Tensor, spacing: Scalar | null, dim: number | null, order: number): Tensor[] {
  return gradients(self, () => (spacing === null ? 1 : scalarToNumber(spacing)), dim === null ? everyDim(self) : [dim], order)
}

export function gradient_scalararray(self: Tensor, spacing: Scalar, dims: number[], order: number): Tensor[] {
  return gradients(self, () => scalarToNumber(spacing), dims, order)
}

export function gradient_array(self: Tensor, dims: number[], order: number): Tensor[] {
  return gradients(self, () => 1, dims, order)
}

export function gradient_scalarrayint(self: Tensor, spacing: Scalar[], dim: number | null, order: number): Tensor[] {
  const dims = dim === null ? everyDim(self) : [dim]
  return gradients(self, each(spacing.map(scalarToNumber), dims), dims, order)
}

export function gradient_scalarrayarray(self: Tensor, spacing: Scalar[], dims: number[], order: number): Tensor[] {
  return gradients(self, each(spacing.map(scalarToNumber), dims), dims, order)
}

export function gradient_tensorarrayint(self: Tensor, spacing: Tensor[], dim: number | null, order: number): Tensor[] {
  const dims = dim === null ? everyDim(self) : [dim]
  return gradients(self, each(spacing, dims), dims, order)
}

export function gradient_tensorarray(self: Tensor, spacing: Tensor[], dims: number[], order: number): Tensor[] {
  return gradients(self, each(spacing, dims), dims, order)
}
