import { check } from '../../error.js'
import { Float } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'

/** Zeroes elements with probability p and scales the others by 1 / (1 - p); outside of training it does nothing. */
export function dropout(input: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', input, p, train) ? input : at.mul_Tensor(input, keepScale(input, input.shape, p))
}

export function dropout_(self: Tensor, p: number, train: boolean): Tensor {
  return idle('dropout', self, p, train) ? self : at.mul__Tensor(self, keepScale(self, self.shape, p))
}

export function idle(name: string, input: Tensor, p: number, train: boolean): boolean {
  check(p >= 0 && p <= 1, () => `${name} expects a probability between 0 and 1, found ${p}`)
  return p === 0 || !train || input.numel === 0
}

/** 1 with probability 1 - p, else 0; nothing is drawn for p = 1. */
export function kept(input: Tensor, shape: readonly number[], p: number): Tensor {
  const mask = empty(shape, input.type)
  if (p === 1) fillScalar(mask, 0)
  else at.bernoulli__float(mask, 1 - p, null)
  return mask
}

/** 1 / (1 - p) where an element is kept, else 0. */
export function keepScale(input: Tensor, shape: readonly number[], p: number): Tensor {
  const mask = kept(input, shape, p)
  return p === 1 ? mask : at.div__Scalar(mask, new Float(1 - p))
}
