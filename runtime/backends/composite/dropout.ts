import { check, PtliteError } from '../../error.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, cloneOf } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'

/** Zeroes elements with probability p and scales the others by 1 / (1 - p); outside of training it does nothing. */
export function dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', input, p, train) ? input : at.mul_Tensor(input, keepScale(input, input.shape, p))
}

export function dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', self, p, train) ? self : at.mul__Tensor(self, keepScale(self, self.shape, p))
}

/** Dropout of whole channels: one draw for each index of the first two dimensions. */
export function feature_dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_dropout', input, p, train) ? input : at.mul_Tensor(input, keepScale(input, channelShape(input), p))
}

export function feature_dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('feature_dropout', self, p, train) ? self : at.mul__Tensor(self, keepScale(self, channelShape(self), p))
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

/** `native_dropout`: the result and the mask of what was kept. */
export function native_dropout(input: Tensor, p: number, train: boolean | null): [Tensor, Tensor] {
  const mask = empty(input.shape, DType.bool)
  if (train === false || input.numel === 0) {
    fillScalar(mask, true)
    return [cloneOf(input), mask]
  }
  at.bernoulli__float(mask, 1 - p, null)
  return [at.mul__Scalar(at.mul_Tensor(input, mask), new Float(p === 1 ? 0 : 1 / (1 - p))), mask]
}

function idle(name: string, input: Tensor, p: number, train: boolean): boolean {
  check(p >= 0 && p <= 1, () => `${name} expects a probability between 0 and 1, found ${p}`)
  return p === 0 || !train || input.numel === 0
}

function channelShape(input: Tensor): number[] {
  check(input.shape.length >= 2, () => `feature dropout expects at least 2 dimensions, found ${input.shape.length}`)
  return input.shape.map((n, d) => (d < 2 ? n : 1))
}

/** 1 with probability 1 - p, else 0; nothing is drawn for p = 1. */
function kept(input: Tensor, shape: readonly number[], p: number): Tensor {
  const mask = empty(shape, input.type)
  if (p === 1) fillScalar(mask, 0)
  else at.bernoulli__float(mask, 1 - p, null)
  return mask
}

/** 1 / (1 - p) where an element is kept, else 0. */
function keepScale(input: Tensor, shape: readonly number[], p: number): Tensor {
  const mask = kept(input, shape, p)
  return p === 1 ? mask : at.div__Scalar(mask, new Float(1 - p))
}

const SELU_LIMIT = 1.7580993408473766

function alphaDropped(input: Tensor, shape: readonly number[], p: number): Tensor {
  if (p === 1) return at.mul_Tensor(input, kept(input, shape, p))
  const mask = kept(input, shape, p)
  const a = 1 / Math.sqrt((SELU_LIMIT * SELU_LIMIT * p + 1) * (1 - p))
  // a x where kept, a limit where dropped, both moved so that the mean stays
  const dropped = at.mul__Scalar(at.add_Scalar(mask, -1, 1), new Float(SELU_LIMIT * a))
  const shift = at.add__Scalar(dropped, new Float(SELU_LIMIT * a * p), 1)
  return at.add__Tensor(at.mul_Tensor(input, at.mul__Scalar(mask, new Float(a))), shift, 1)
}

/** The rest of a dropout whose draw is done: self * mask * scale. */
export function _masked_scale(self: Tensor, mask: Tensor, scale: number): Tensor {
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `_masked_scale: expected a floating point tensor, found ${self.dtype}`)
  return at.mul_Scalar(at.mul_Tensor(self, castTo(mask, self.type)), new Float(scale))
}
