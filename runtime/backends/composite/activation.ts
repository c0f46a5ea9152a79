import { Float, type Scalar } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'

export * from './dropout.js'

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
