import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import type { TensorOptions } from '../../tensor/options.js'
import { outputFor } from '../../tensor/resize.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as random from '../cpu/random.js'
import { copyInto } from '../cpu/support/copy.js'
import { empty_like, empty_memory_format } from './factory.js'

/** Random tensors. Every overload with a generator takes None for it. */

export function rand(size: number[], options: TensorOptions): Tensor {
  return random.uniform_(empty_memory_format(size, options, null), 0, 1, null)
}

export function rand_generator(size: number[], _generator: unknown, options: TensorOptions): Tensor {
  return rand(size, options)
}

export function rand_out(size: number[], out: Tensor): Tensor {
  return random.uniform_(outputFor(out, size, out.type), 0, 1, null)
}

export function rand_generator_out(size: number[], _generator: unknown, out: Tensor): Tensor {
  return rand_out(size, out)
}

export function rand_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return random.uniform_(empty_like(self, options, format), 0, 1, null)
}

export function randn(size: number[], options: TensorOptions): Tensor {
  return random.normal_(empty_memory_format(size, options, null), 0, 1, null)
}

export function randn_generator(size: number[], _generator: unknown, options: TensorOptions): Tensor {
  return randn(size, options)
}

export function randn_out(size: number[], out: Tensor): Tensor {
  return random.normal_(outputFor(out, size, out.type), 0, 1, null)
}

export function randn_generator_out(size: number[], _generator: unknown, out: Tensor): Tensor {
  return randn_out(size, out)
}

export function randn_like(self: Tensor, options: TensorOptions, format: number | null): Tensor {
  return random.normal_(empty_like(self, options, format), 0, 1, null)
}

function long(options: TensorOptions): TensorOptions {
  return options.dtype === null ? { ...options, dtype: DType.int64 } : options
}

export function randint_low(low: number, high: number, size: number[], options: TensorOptions): Tensor {
  return random.random__from(empty_memory_format(size, long(options), null), low, high, null)
}

export function randint_low_generator(low: number, high: number, size: number[], _generator: unknown, options: TensorOptions): Tensor {
  return randint_low(low, high, size, options)
}

export function randint(high: number, size: number[], options: TensorOptions): Tensor {
  return randint_low(0, high, size, options)
}

export function randint_generator(high: number, size: number[], _generator: unknown, options: TensorOptions): Tensor {
  return randint_low(0, high, size, options)
}

export function randint_low_out(low: number, high: number, size: number[], out: Tensor): Tensor {
  return random.random__from(outputFor(out, size, out.type), low, high, null)
}

export function randint_low_generator_out(low: number, high: number, size: number[], _generator: unknown, out: Tensor): Tensor {
  return randint_low_out(low, high, size, out)
}

export function randint_out(high: number, size: number[], out: Tensor): Tensor {
  return randint_low_out(0, high, size, out)
}

export function randint_generator_out(high: number, size: number[], _generator: unknown, out: Tensor): Tensor {
  return randint_low_out(0, high, size, out)
}

export function randint_like_low_dtype(self: Tensor, low: number, high: number, options: TensorOptions, format: number | null): Tensor {
  return random.random__from(empty_like(self, options, format), low, high, null)
}

export function randint_like(self: Tensor, high: number, options: TensorOptions, format: number | null): Tensor {
  return randint_like_low_dtype(self, 0, high, options, format)
}

export function randperm(n: number, options: TensorOptions): Tensor {
  check(n >= 0, () => `randperm expects a length of at least 0, found ${n}`)
  return random.randperm_out(n, empty_memory_format([n], long(options), null))
}

export function randperm_generator(n: number, _generator: unknown, options: TensorOptions): Tensor {
  return randperm(n, options)
}

export function randperm_generator_out(n: number, _generator: unknown, out: Tensor): Tensor {
  return random.randperm_out(n, out)
}

const LIKE: TensorOptions = { dtype: null, layout: null, device: null, pinMemory: null }

/** Ones and zeros; the elements of `self` are the probabilities of a one. */
export function bernoulli(self: Tensor, generator: unknown): Tensor {
  return random.bernoulli__Tensor(empty_like(self, LIKE, null), self, generator)
}

export function bernoulli_out(self: Tensor, generator: unknown, out: Tensor): Tensor {
  return random.bernoulli__Tensor(outputFor(out, self.shape, self.type), self, generator)
}

export function bernoulli_p(self: Tensor, p: number, generator: unknown): Tensor {
  return random.bernoulli__float(empty_like(self, LIKE, null), p, generator)
}

export function normal_functional(self: Tensor, mean: number, std: number, generator: unknown): Tensor {
  const out = empty_like(self, LIKE, null)
  copyInto(out, self)
  return random.normal_(out, mean, std, generator)
}

export function normal_float_float(mean: number, std: number, size: number[], generator: unknown, options: TensorOptions): Tensor {
  return random.normal_(empty_memory_format(size, options, null), mean, std, generator)
}

export function normal_float_float_out(mean: number, std: number, size: number[], generator: unknown, out: Tensor): Tensor {
  return random.normal_(outputFor(out, size, out.type), mean, std, generator)
}
