import type { Scalar } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { deliver } from '../cpu/support/deliver.js'
import * as at from '../generated/dispatch.js'

/** relu(self + alpha other) */
export function _add_relu(self: Tensor, other: Tensor, alpha: Scalar, out?: Tensor): Tensor {
  if (out === self) return at.relu_(at.add__Tensor(self, other, alpha))
  return deliver(at.relu_(at.add_Tensor(self, other, alpha)), out)
}

/** relu(self + alpha other) */
export function _add_relu_Scalar(self: Tensor, other: Scalar, alpha: Scalar, out?: Tensor): Tensor {
  if (out === self) return at.relu_(at.add__Scalar(self, other, alpha))
  return deliver(at.relu_(at.add_Scalar(self, other, alpha)), out)
}
