import { check } from '../../runtime/error.js'
import { kindOf, numberText } from '../../runtime/tensor/kind-of.js'
import { Tensor } from '../../runtime/tensor/tensor.js'

/** A tensor of samples [frames] or [channels, frames], in float32. Throws INVALID_ARGUMENT for others. */
export function checkSamples(samples: unknown): asserts samples is Tensor<'float32'> {
  check(samples instanceof Tensor, () => `expected a tensor of samples, found ${kindOf(samples)}`)
  const { shape, dtype } = samples as Tensor
  check(
    dtype === 'float32' && (shape.length === 1 || shape.length === 2) && shape.every((size) => size > 0),
    () => `expected samples as float32[frames] or float32[channels, frames], found ${dtype}[${shape.join(', ')}]`,
  )
}

/** Frames a second. Throws INVALID_ARGUMENT for what is no whole number above 0. */
export function checkRate(rate: unknown, name: string): asserts rate is number {
  const isRate = typeof rate === 'number' && Number.isInteger(rate) && rate > 0 && rate < 2 ** 31
  check(isRate, () => `expected ${name} to be a whole number of frames a second, found ${numberText(rate)}`)
}
