import { type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { reshape } from './views.js'

export function atleast_1d(self: Tensor): Tensor {
  return self.shape.length === 0 ? reshape(self, [1]) : self
}

export function atleast_2d(self: Tensor): Tensor {
  if (self.shape.length === 0) return reshape(self, [1, 1])
  return self.shape.length === 1 ? v.unsqueeze(self, 0) : self
}

export function atleast_3d(self: Tensor): Tensor {
  if (self.shape.length === 0) return reshape(self, [1, 1, 1])
  if (self.shape.length === 1) return v.unsqueeze(v.unsqueeze(self, 0), -1)
  return self.shape.length === 2 ? v.unsqueeze(self, -1) : self
}

export function atleast_1d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_1d)
}

export function atleast_2d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_2d)
}

export function atleast_3d_Sequence(tensors: Tensor[]): Tensor[] {
  return tensors.map(atleast_3d)
}
