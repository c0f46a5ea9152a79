import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating, isQuantized } from '../../tensor/dtype.js'
import type { RandomGenerator } from '../../tensor/value.js'
import { isDense } from '../../tensor/view-strides.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { outputFor } from '../../tensor/out.js'
import { noteWrite } from '../../tensor/observe.js'
import { castTo, contiguousOf, copyInto } from './copy.js'
import { stateOf } from './generator.js'

/** Parameters of a distribution, as the kernel random_fill describes them. */
export interface Distribution {
  readonly op: number
  readonly a?: number
  readonly b?: number
  readonly base?: number
  readonly range?: number
}

/** Random bits in a uniform sample of a dtype: the digits of its mantissa. */
function digitsOf(type: DType): number {
  return type === DType.float16 ? 11 : type === DType.bfloat16 ? 8 : type === DType.float64 ? 53 : 24
}

/** Fills `self` in place, in the order of memory, with samples in the dtype's own precision. */
export function draw(self: Tensor, distribution: Distribution, generator: RandomGenerator | null): Tensor {
  if (isQuantized(self.type)) throw new PtliteError('INVALID_DTYPE', `random numbers of dtype ${self.dtype} are not supported`)
  const direct = self.type === DType.float32 || self.type === DType.float64 || self.type === DType.int64
  const dense = isDense(self.shape, self.strides)
  const flat = dense ? viewOf(self, [self.numel], [1]) : self
  const target = direct && dense ? flat : empty(self.shape, direct ? self.type : isFloating(self.type) ? DType.float32 : DType.int64)
  const { op, a = 0, b = 0, base = 0, range = 0 } = distribution
  kernels.random_fill({
    op,
    dtype: target.type,
    digits: digitsOf(self.type),
    state: stateOf(generator),
    count: self.numel,
    out: target.address,
    a,
    b,
    base,
    range,
  })
  if (target !== flat) copyInto(flat, dense ? viewOf(target, [self.numel], [1]) : target)
  noteWrite(self)
  return self
}

/** Throws INVALID_DTYPE for distributions over fractions. */
export function checkFloating(self: Tensor, name: string): void {
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `${name} expects a floating-point tensor, found ${self.dtype}`)
}

export function checkProbability(p: number, name: string): void {
  check(p >= 0 && p <= 1, () => `${name} expects a probability between 0 and 1, found ${p}`)
}

/** Indices drawn with replacement by the weights in each row of `self`, a matrix or vector. */
export function drawChoices(self: Tensor, samples: number, generator: RandomGenerator | null): Tensor {
  const weights = contiguousOf(castTo(self, self.type === DType.float64 ? DType.float64 : DType.float32))
  const columns = self.shape[self.shape.length - 1]!
  const out = empty([...self.shape.slice(0, -1), samples], DType.int64)
  kernels.random_choices({
    dtype: weights.type,
    state: stateOf(generator),
    rows: self.numel / columns,
    columns,
    samples,
    weights: weights.address,
    out: out.address,
  })
  return out
}

/** Fills a vector with a random order of the numbers 0 to n - 1. */
export function randomOrder(n: number, generator: RandomGenerator | null, out: Tensor): Tensor {
  check(n >= 0, () => `randperm expects a length of at least 0, found ${n}`)
  const result = outputFor(out, [n], out.type)
  const direct = result.type === DType.int64 && result.isContiguous
  const order = direct ? result : empty([n], DType.int64)
  kernels.random_permutation({ state: stateOf(generator), count: n, out: order.address })
  if (!direct) copyInto(result, order)
  noteWrite(result)
  return result
}
