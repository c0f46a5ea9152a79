import { check } from '../../error.js'
import type { RandomGenerator } from '../../tensor/value.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { narrow } from '../../tensor/view.js'
import { cloneOf, laidOutLike } from '../support/copy.js'
import type { Composite } from '../support/generated/interfaces.js'
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
export function rrelu(self: Tensor, lower: Scalar, upper: Scalar, training: boolean, generator: RandomGenerator | null): Tensor {
  return at.rrelu_with_noise(self, self, lower, upper, training, generator)
}

export function rrelu_(self: Tensor, lower: Scalar, upper: Scalar, training: boolean, generator: RandomGenerator | null): Tensor {
  return at.rrelu_with_noise_(self, self, lower, upper, training, generator)
}

/** rrelu_with_noise and its slopes, without writing into `noise`. */
export const rrelu_with_noise_functional: Composite['rrelu_with_noise_functional'] = (self, noise, lower, upper, training, generator) => {
  const slopes = cloneOf(noise)
  return [laidOutLike(at.rrelu_with_noise(self, slopes, lower, upper, training, generator), self), slopes]
}

/** How glu changes where its input x changes by dx; `glu` is its value. */
export function glu_jvp(glu: Tensor, x: Tensor, dx: Tensor, dim: number): Tensor {
  check(glu.dim > 0, () => 'glu does not support 0-dimensional tensors')
  const size = glu.shape[wrapDim(dim, glu.dim)]!
  const gate = at.sigmoid(narrow(x, dim, size, size))
  const first = narrow(dx, dim, 0, size)
  const second = narrow(dx, dim, size, size)
  const slope = at.sub_Tensor(second, at.mul_Tensor(gate, second), 1)
  return at.add_Tensor(at.mul_Tensor(first, gate), at.mul_Tensor(slope, glu), 1)
}
