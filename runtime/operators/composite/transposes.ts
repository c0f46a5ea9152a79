import { check } from '../../error.js'
import { type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as stridedView from '../../tensor/view.js'
import * as axes from '../../tensor/view.js'
import { conj } from './complex-views.js'
import { checkMatrix, reshaped } from './views.js'

export function transpose_(self: Tensor, dim0: number, dim1: number): Tensor {
  return reshaped(self, ...v.transposed(self, dim0, dim1))
}

export { transpose_ as swapaxes_, transpose_ as swapdims_ }

export function t_(self: Tensor): Tensor {
  checkMatrix(self)
  return transpose_(self, 0, self.shape.length < 2 ? 0 : 1)
}

/** All dimensions in reverse order. */
export function numpy_T(self: Tensor): Tensor {
  return v.permute(
    self,
    self.shape.map((_, d) => self.shape.length - 1 - d),
  )
}

export { numpy_T as numpy_T_a }

export function mT(self: Tensor): Tensor {
  if (self.shape.length === 0) return v.alias(self)
  check(self.shape.length >= 2, () => `mT expects at least two dimensions, found shape [${self.shape.join(', ')}]`)
  return v.transpose(self, -2, -1)
}

/** Transposed, with the conjugates of complex elements. */
export function adjoint(self: Tensor): Tensor {
  return conj(mT(self))
}

export { adjoint as mH }

export function matrix_H(self: Tensor): Tensor {
  check(self.shape.length === 2 || self.shape.length === 0, () => `H expects a matrix, found shape [${self.shape.join(', ')}]`)
  return adjoint(self)
}

export function movedim_int(self: Tensor, source: number, destination: number): Tensor {
  return axes.movedim(self, [source], [destination])
}

export { movedim_int as moveaxis_int }

export function linalg_diagonal(self: Tensor, offset: number, dim1: number, dim2: number): Tensor {
  return stridedView.diagonal(self, offset, dim1, dim2)
}
