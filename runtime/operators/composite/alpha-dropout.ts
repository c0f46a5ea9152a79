import { check, PtliteError } from '../../error.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import { Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo, cloneOf } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'
import { idle, keepScale, kept } from './dropout.js'

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
  const mask = emptyLike(input, DType.bool)
  if (train === false || input.numel === 0) {
    fillScalar(mask, true)
    return [cloneOf(input), mask]
  }
  at.bernoulli__float(mask, 1 - p, null)
  return [at.mul__Scalar(at.mul_Tensor(input, mask), new Float(p === 1 ? 0 : 1 / (1 - p))), mask]
}

function channelShape(input: Tensor): number[] {
  check(input.shape.length >= 2, () => `feature dropout expects at least 2 dimensions, found ${input.shape.length}`)
  return input.shape.map((n, d) => (d < 2 ? n : 1))
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
