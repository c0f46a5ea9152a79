import type { Scalar } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'

/** relu(self + alpha * other), which optimize_for_mobile writes for an addition before a relu. */
export function _add_relu_Tensor(self: Tensor, other: Tensor, alpha: Scalar): Tensor {
  return at.relu_(at.add_Tensor(self, other, alpha))
}

export function _add_relu__Tensor(self: Tensor, other: Tensor, alpha: Scalar): Tensor {
  return at.relu_(at.add__Tensor(self, other, alpha))
}

export function _add_relu_out(self: Tensor, other: Tensor, alpha: Scalar, out: Tensor): Tensor {
  return at.relu_(at.add_out(self, other, alpha, out))
}

export function _add_relu_Scalar(self: Tensor, other: Scalar, alpha: Scalar): Tensor {
  return at.relu_(at.add_Scalar(self, other, alpha))
}

export function _add_relu__Scalar(self: Tensor, other: Scalar, alpha: Scalar): Tensor {
  return at.relu_(at.add__Scalar(self, other, alpha))
}
