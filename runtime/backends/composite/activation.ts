import { check } from '../../error.js'
import { writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo } from '../cpu/support/copy.js'
import * as at from '../generated/dispatch.js'

export function relu6(self: Tensor): Tensor {
  return at.hardtanh(self, 0, 6)
}

export function relu6_(self: Tensor): Tensor {
  return at.hardtanh_(self, 0, 6)
}

const SELU_ALPHA = new Float(1.6732632423543772)
const SELU_SCALE = new Float(1.0507009873554805)

export function selu(self: Tensor): Tensor {
  return at.elu(self, SELU_ALPHA, SELU_SCALE, 1)
}

export function selu_(self: Tensor): Tensor {
  return at.elu_(self, SELU_ALPHA, SELU_SCALE, 1)
}

/** In training the slopes are random. */
export function rrelu(self: Tensor, lower: Scalar, upper: Scalar, training: boolean, generator: unknown): Tensor {
  return at.rrelu_with_noise(self, self, lower, upper, training, generator)
}

export function rrelu_(self: Tensor, lower: Scalar, upper: Scalar, training: boolean, generator: unknown): Tensor {
  return at.rrelu_with_noise_(self, self, lower, upper, training, generator)
}

/** Zeroes elements with probability p and scales the others by 1 / (1 - p); outside of training it does nothing. */
export function dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', input, p, train) ? input : at.mul_Tensor(input, keepMask(input, input.shape, p))
}

export function dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', self, p, train) ? self : at.mul__Tensor(self, keepMask(self, self.shape, p))
}

/** Dropout of whole channels: one draw for each index of the first two dimensions. */
export function feature_dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_dropout', input, p, train) ? input : at.mul_Tensor(input, keepMask(input, channelShape(input), p))
}

export function feature_dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_dropout', self, p, train) ? self : at.mul__Tensor(self, keepMask(self, channelShape(self), p))
}

/** Dropout that keeps mean and variance of SELU activations: dropped elements become SELU's negative limit. */
export function alpha_dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('alpha_dropout', input, p, train) ? input : alphaDropped(input, input.shape, p)
}

export function alpha_dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('alpha_dropout', self, p, train) ? self : at.copy_(self, alphaDropped(self, self.shape, p), false)
}

export function feature_alpha_dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_alpha_dropout', input, p, train) ? input : alphaDropped(input, channelShape(input), p)
}

export function feature_alpha_dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_alpha_dropout', self, p, train) ? self : at.copy_(self, alphaDropped(self, channelShape(self), p), false)
}

function idle(name: string, input: Tensor, p: number, train: boolean): boolean {
  check(p >= 0 && p <= 1, () => `${name} expects a probability between 0 and 1, found ${p}`)
  return p === 0 || !train || input.numel === 0
}

function channelShape(input: Tensor): number[] {
  check(input.shape.length >= 2, () => `feature dropout expects at least 2 dimensions, found ${input.shape.length}`)
  return input.shape.map((n, d) => (d < 2 ? n : 1))
}

/** 0 with probability p, else 1 / (1 - p). */
function keepMask(input: Tensor, shape: readonly number[], p: number): Tensor {
  const values = Float32Array.from({ length: numelOf(shape) }, () => (Math.random() < p ? 0 : 1 / (1 - p)))
  return castTo(tensorFrom(values, shape), input.type)
}

function alphaDropped(input: Tensor, shape: readonly number[], p: number): Tensor {
  const limit = -SELU_ALPHA.value * SELU_SCALE.value
  const a = p === 1 ? 0 : 1 / Math.sqrt((limit * limit * p + 1) * (1 - p))
  const kept = Float32Array.from({ length: numelOf(shape) }, () => (Math.random() < p ? 0 : 1))
  // a * x where kept, a * limit where dropped, both moved so that the mean stays
  const shift = kept.map((k) => (k === 1 ? 0 : a * limit) - a * limit * p)
  const scaled = at.mul_Tensor(input, castTo(tensorFrom(kept.map((k) => k * a), shape), input.type))
  return at.add_Tensor(scaled, castTo(tensorFrom(shift, shape), input.type), 1)
}

function tensorFrom(values: Float32Array, shape: readonly number[]): Tensor {
  const t = empty(shape, DType.float32)
  writeTensor(t, values)
  return t
}
