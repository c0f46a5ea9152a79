import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { viewAsReal } from '../../tensor/complex.js'
import { DType, holdsComplex, isFloating } from '../../tensor/dtype.js'
import type { RandomGenerator } from '../../tensor/value.js'
import { broadcastShapes, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { expand } from '../../tensor/view.js'
import { noteWrite } from '../../tensor/observe.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { checkFloating, checkProbability, draw, randomOrder } from '../support/draw.js'
import { seedGenerator, stateOf } from '../support/generator.js'

/**
 * Random numbers in place. The sequence after a seed is PyTorch's on the CPU. Each thread has a generator of its own, which serves
 * where none is given.
 */

const RandomOp = kernels.RandomOp

export function manual_seed(seed: number): void {
  seedGenerator(seed)
}

export function uniform_(self: Tensor, from: number, to: number, generator: RandomGenerator | null): Tensor {
  check(from <= to, () => `uniform_ expects from to be at most to, found ${from} and ${to}`)
  if (holdsComplex(self)) {
    uniform_(viewAsReal(self), from, to, generator)
    return self
  }
  checkFloating(self, 'uniform_')
  return draw(self, { op: RandomOp.uniform, a: from, b: to }, generator)
}

/** Elements from which PyTorch draws normal samples in blocks. */
const BLOCK = 16

export function normal_(self: Tensor, mean: number, std: number, generator: RandomGenerator | null): Tensor {
  check(std >= 0, () => `normal_ expects a deviation of at least 0, found ${std}`)
  if (holdsComplex(self)) {
    // each part has half of the variance
    normal_(viewAsReal(self), mean, std / Math.SQRT2, generator)
    return self
  }
  checkFloating(self, 'normal_')
  const blocks = self.numel >= BLOCK && self.isContiguous
  return draw(self, { op: blocks ? RandomOp.normal : RandomOp.normal_serial, a: mean, b: std }, generator)
}

export function log_normal_(self: Tensor, mean: number, std: number, generator: RandomGenerator | null): Tensor {
  checkFloating(self, 'log_normal_')
  check(std > 0, () => `log_normal_ expects a deviation above 0, found ${std}`)
  return draw(self, { op: RandomOp.log_normal, a: mean, b: std }, generator)
}

export function exponential_(self: Tensor, lambda: number, generator: RandomGenerator | null): Tensor {
  checkFloating(self, 'exponential_')
  check(lambda >= 0, () => `exponential_ expects lambda to be at least 0, found ${lambda}`)
  return draw(self, { op: RandomOp.exponential, a: lambda }, generator)
}

export function cauchy_(self: Tensor, median: number, sigma: number, generator: RandomGenerator | null): Tensor {
  checkFloating(self, 'cauchy_')
  return draw(self, { op: RandomOp.cauchy, a: median, b: sigma }, generator)
}

export function geometric_(self: Tensor, p: number, generator: RandomGenerator | null): Tensor {
  check(p > 0 && p < 1, () => `geometric_ expects a probability between 0 and 1, found ${p}`)
  return draw(self, { op: RandomOp.geometric, a: p }, generator)
}

export function bernoulli__float(self: Tensor, p: number, generator: RandomGenerator | null): Tensor {
  checkProbability(p, 'bernoulli_')
  return draw(self, { op: RandomOp.bernoulli, a: p }, generator)
}

/** Ones with the probabilities `p`, which are broadcast to the shape of `self`. */
export function bernoulli__Tensor(self: Tensor, p: Tensor, generator: RandomGenerator | null): Tensor {
  checkFloating(p, 'bernoulli_')
  check(
    sameShape(broadcastShapes(self.shape, p.shape), self.shape),
    () => `probabilities of shape [${p.shape.join(', ')}] cannot be broadcast to [${self.shape.join(', ')}]`,
  )
  const given = contiguousOf(expand(castTo(p, p.type === DType.float64 ? DType.float64 : DType.float32), self.shape))
  const trials = empty(self.shape, given.type)
  kernels.random_trials({ dtype: given.type, state: stateOf(generator), count: self.numel, p: given.address, out: trials.address })
  copyInto(self, trials)
  noteWrite(self)
  return self
}

/** Largest number that `random_` without an end gives, plus one. */
const LIMITS: Partial<Record<DType, number>> = {
  [DType.uint8]: 2 ** 8,
  [DType.int8]: 2 ** 7,
  [DType.int16]: 2 ** 15,
  [DType.int32]: 2 ** 31,
  [DType.int64]: 2 ** 63,
  [DType.float16]: 2 ** 11 + 1,
  [DType.bfloat16]: 2 ** 8 + 1,
  [DType.float32]: 2 ** 24 + 1,
  [DType.float64]: 2 ** 53 + 1,
  [DType.bool]: 2,
}

function integers(self: Tensor, base: number, range: number, wide: boolean, generator: RandomGenerator | null): Tensor {
  return draw(self, { op: wide ? RandomOp.integer64 : RandomOp.integer32, base, range }, generator)
}

export function random_(self: Tensor, generator: RandomGenerator | null): Tensor {
  if (isFloating(self.type)) return draw(self, { op: RandomOp.mantissa }, generator)
  return integers(self, 0, LIMITS[self.type] ?? 1, self.type === DType.int64, generator)
}

/** Integers from `from` up to but without `to`; without `to`, as far as the dtype goes. */
export function random__from(self: Tensor, from: number, to: number | null, generator: RandomGenerator | null): Tensor {
  const end = to ?? LIMITS[self.type] ?? 1
  check(from < end, () => `random_ expects from to be below to, found ${from} and ${end}`)
  const range = end - from
  const can = self.type === DType.int64 || self.type === DType.bfloat16 || (isFloating(self.type) && self.type !== DType.float16)
  return integers(self, from, range, can && range >= 2 ** 32, generator)
}

export function random__to(self: Tensor, to: number, generator: RandomGenerator | null): Tensor {
  return random__from(self, 0, to, generator)
}

/** Fills a vector with a random order of the numbers 0 to n - 1. */
export function randperm_out(n: number, out: Tensor): Tensor {
  return randomOrder(n, null, out)
}

/** A Poisson number for each rate in `self`. */
export function poisson(self: Tensor, generator: RandomGenerator | null): Tensor {
  checkFloating(self, 'poisson')
  const rates = contiguousOf(castTo(self, self.type === DType.float64 ? DType.float64 : DType.float32))
  const out = empty(self.shape, rates.type)
  kernels.random_poisson({ dtype: rates.type, state: stateOf(generator), count: self.numel, in: rates.address, out: out.address })
  return castTo(out, self.type)
}

/** Slopes of a randomized leaky ReLU: a number in lower..upper where `self` is not above 0, else 1. */
export function drawSlopes(self: Tensor, lower: number, upper: number, generator: RandomGenerator | null): Tensor {
  const input = contiguousOf(castTo(self, self.type === DType.float64 ? DType.float64 : DType.float32))
  const noise = empty(self.shape, input.type)
  kernels.random_slopes({
    dtype: input.type,
    state: stateOf(generator),
    count: self.numel,
    a: lower,
    b: upper,
    in: input.address,
    noise: noise.address,
  })
  return castTo(noise, self.type)
}
