import { check } from '../../error.js'
import { itemOf, readTensor } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import type { RandomGenerator } from '../../tensor/value.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import { outputFor } from '../../tensor/out.js'
import { Float, scalarToBigInt } from '../../tensor/scalar.js'
import { broadcastShapes } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo, copyInto } from '../support/copy.js'
import { drawChoices, randomOrder } from '../support/draw.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { empty_like, empty_memory_format } from './factory.js'

/** Random tensors. Where no generator is given, this thread's serves. */

export function rand(size: number[], options: TensorOptions): Tensor {
  return rand_generator(size, null, options)
}

export function rand_generator(size: number[], generator: RandomGenerator | null, options: TensorOptions): Tensor {
  return at.uniform_(empty_memory_format(size, options, null), 0, 1, generator)
}

export function rand_out(size: number[], out: Tensor): Tensor {
  return rand_generator_out(size, null, out)
}

export function rand_generator_out(size: number[], generator: RandomGenerator | null, out: Tensor): Tensor {
  return at.uniform_(outputFor(out, size, out.type), 0, 1, generator)
}

export function rand_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return rand_like_generator(self, null, options, format)
}

export const rand_like_generator: Composite['rand_like_generator'] = (self, generator, options, format) =>
  at.uniform_(empty_like(self, options, format), 0, 1, generator)

export function randn(size: number[], options: TensorOptions): Tensor {
  return randn_generator(size, null, options)
}

export function randn_generator(size: number[], generator: RandomGenerator | null, options: TensorOptions): Tensor {
  return at.normal_(empty_memory_format(size, options, null), 0, 1, generator)
}

export function randn_out(size: number[], out: Tensor): Tensor {
  return randn_generator_out(size, null, out)
}

export function randn_generator_out(size: number[], generator: RandomGenerator | null, out: Tensor): Tensor {
  return at.normal_(outputFor(out, size, out.type), 0, 1, generator)
}

export function randn_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return randn_like_generator(self, null, options, format)
}

export const randn_like_generator: Composite['randn_like_generator'] = (self, generator, options, format) =>
  at.normal_(empty_like(self, options, format), 0, 1, generator)

export function randint_low(low: number, high: number, size: number[], options: TensorOptions): Tensor {
  return randint_low_generator(low, high, size, null, options)
}

export const randint_low_generator: Composite['randint_low_generator'] = (low, high, size, generator, options) =>
  at.random__from(empty_memory_format(size, options, null), low, high, generator)

export function randint(high: number, size: number[], options: TensorOptions): Tensor {
  return randint_low(0, high, size, options)
}

export function randint_generator(high: number, size: number[], generator: RandomGenerator | null, options: TensorOptions): Tensor {
  return randint_low_generator(0, high, size, generator, options)
}

export function randint_low_out(low: number, high: number, size: number[], out: Tensor): Tensor {
  return randint_low_generator_out(low, high, size, null, out)
}

export const randint_low_generator_out: Composite['randint_low_generator_out'] = (low, high, size, generator, out) =>
  at.random__from(outputFor(out, size, out.type), low, high, generator)

export function randint_out(high: number, size: number[], out: Tensor): Tensor {
  return randint_low_out(0, high, size, out)
}

export function randint_generator_out(high: number, size: number[], generator: RandomGenerator | null, out: Tensor): Tensor {
  return randint_low_generator_out(0, high, size, generator, out)
}

export const randint_like_low_generator_dtype: Composite['randint_like_low_generator_dtype'] = (
  self,
  low,
  high,
  generator,
  options,
  format,
) => at.random__from(empty_like(self, options, format), low, high, generator)

export function randint_like_low_dtype(self: Tensor, low: number, high: number, options: TensorOptions, format: number | null): Tensor {
  return randint_like_low_generator_dtype(self, low, high, null, options, format)
}

export const randint_like_generator: Composite['randint_like_generator'] = (self, high, generator, options, format) =>
  randint_like_low_generator_dtype(self, 0, high, generator, options, format)

export function randint_like(self: Tensor, high: number, options: TensorOptions, format: number | null): Tensor {
  return randint_like_low_dtype(self, 0, high, options, format)
}

/** `high` is a tensor without dimensions, whose fraction does not count. */
export const randint_like_Tensor_generator: Composite['randint_like_Tensor_generator'] = (self, high, generator, options, format) => {
  check(high.dim === 0, () => `randint_like expects a limit without dimensions, found shape [${high.shape.join(', ')}]`)
  return randint_like_generator(self, Number(scalarToBigInt(itemOf(high))), generator, options, format)
}

export function randint_like_Tensor(self: Tensor, high: Tensor, options: TensorOptions, format: number | null): Tensor {
  return randint_like_Tensor_generator(self, high, null, options, format)
}

export function randperm(n: number, options: TensorOptions): Tensor {
  return randperm_generator(n, null, options)
}

export function randperm_generator(n: number, generator: RandomGenerator | null, options: TensorOptions): Tensor {
  check(n >= 0, () => `randperm expects a length of at least 0, found ${n}`)
  const out = empty_memory_format([n], { ...options, dtype: options.dtype ?? DType.int64 }, null)
  return randomOrder(n, generator, out)
}

export { randomOrder as randperm_generator_out } from '../support/draw.js'

const LIKE: TensorOptions = { dtype: null, layout: null, device: null, pinMemory: null }

/** Ones and zeros; the elements of `self` are the probabilities of a one. */
export function bernoulli(self: Tensor, generator: RandomGenerator | null): Tensor {
  return at.bernoulli__Tensor(empty_like(self, LIKE, MemoryFormat.contiguous), self, generator)
}

export function bernoulli_out(self: Tensor, generator: RandomGenerator | null, out: Tensor): Tensor {
  return at.bernoulli__Tensor(outputFor(out, self.shape, self.type), self, generator)
}

export function bernoulli_p(self: Tensor, p: number, generator: RandomGenerator | null): Tensor {
  return at.bernoulli__float(empty_like(self, LIKE, MemoryFormat.contiguous), p, generator)
}

export function normal_functional(self: Tensor, mean: number, std: number, generator: RandomGenerator | null): Tensor {
  const out = empty_like(self, LIKE, null)
  copyInto(out, self)
  return at.normal_(out, mean, std, generator)
}

export const normal_float_float: Composite['normal_float_float'] = (mean, std, size, generator, options) =>
  at.normal_(empty_memory_format(size, options, null), mean, std, generator)

export function normal_float_float_out(mean: number, std: number, size: number[], generator: RandomGenerator | null, out: Tensor): Tensor {
  return at.normal_(outputFor(out, size, out.type), mean, std, generator)
}

/** `out`, or a new tensor, filled with standard samples times `std` plus `mean`. */
function scaledNormal(mean: Tensor | number, std: Tensor | number, generator: RandomGenerator | null, out?: Tensor): Tensor {
  const shapes = [mean, std].map((t) => (typeof t === 'number' ? [] : t.shape))
  const shape = broadcastShapes(shapes[0]!, shapes[1]!)
  const type = typeof mean === 'number' ? (std as Tensor).type : mean.type
  const result = at.normal_(outputFor(out, shape, type), 0, typeof std === 'number' ? std : 1, generator)
  if (typeof std !== 'number') at.mul__Tensor(result, std)
  return typeof mean === 'number' ? at.add__Scalar(result, new Float(mean), 1) : at.add__Tensor(result, mean, 1)
}

export function normal_Tensor_float(mean: Tensor, std: number, generator: RandomGenerator | null, out?: Tensor): Tensor {
  return scaledNormal(mean, std, generator, out)
}

export function normal_float_Tensor(mean: number, std: Tensor, generator: RandomGenerator | null, out?: Tensor): Tensor {
  return scaledNormal(mean, std, generator, out)
}

export function normal_Tensor_Tensor(mean: Tensor, std: Tensor, generator: RandomGenerator | null, out?: Tensor): Tensor {
  return scaledNormal(mean, std, generator, out)
}

/** Indices of categories drawn by the weights in each row, with or without putting them back. */
export function multinomial(self: Tensor, samples: number, replacement: boolean, generator: RandomGenerator | null, out?: Tensor): Tensor {
  const rank = self.shape.length
  check(rank === 1 || rank === 2, () => `multinomial expects a vector or matrix, found shape [${self.shape.join(', ')}]`)
  check(isFloating(self.type), () => `multinomial expects floating-point weights, found ${self.dtype}`)
  const categories = self.shape[rank - 1]!
  check(samples > 0, () => `multinomial expects at least one sample, found ${samples}`)
  check(replacement || samples <= categories, () => `${samples} samples cannot be drawn from ${categories} without replacement`)
  const drawn = replacement && samples > 1 ? drawChoices(self, samples, generator) : race(self, samples, generator)
  if (out === undefined) return drawn
  copyInto(outputFor(out, drawn.shape, drawn.type), drawn)
  return out
}

/** Each category waits for an exponential time by its weight; the first to arrive are drawn. */
function race(self: Tensor, samples: number, generator: RandomGenerator | null): Tensor {
  const weights = readTensor(castTo(self, DType.float64)) as Float64Array
  const columns = self.shape[self.shape.length - 1]!
  for (let i = 0; i < weights.length; i += columns) {
    const row = weights.subarray(i, i + columns)
    check(
      row.every((w) => w >= 0 && w < Infinity) && row.some((w) => w > 0),
      () => 'multinomial expects weights that are finite, not negative and not all zero',
    )
  }
  const times = at.exponential_(empty_like(self, LIKE, MemoryFormat.contiguous), 1, generator)
  const speed = at.div_Tensor(self, times)
  return samples === 1 ? at.argmax(speed, -1, true) : at.topk(speed, samples, -1, true, true)[1]
}
