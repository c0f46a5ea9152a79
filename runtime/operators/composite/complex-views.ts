import { PtliteError } from '../../error.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { DType, isComplex } from '../../tensor/dtype.js'
import { resultStrides } from '../../tensor/iterator.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import * as at from '../generated/dispatch.js'

/** Conjugates are computed at once: PyTorch's are views with a flag that the first operator resolves. Real tensors are their own. */
export function conj(self: Tensor): Tensor {
  return isComplex(self.type) ? at._conj_physical(self) : self
}

export function _conj(self: Tensor): Tensor {
  return isComplex(self.type) ? at._conj_physical(self) : v.alias(self)
}

export function _neg_view(_self: Tensor): Tensor {
  throw new PtliteError('INVALID_ARGUMENT', 'negated views are not supported; use neg')
}

/** The real parts as a view; a real tensor is its own. */
export function real(self: Tensor): Tensor {
  return isComplex(self.type) ? partOf(self, 0) : self
}

/** The imaginary parts as a view. */
export function imag(self: Tensor): Tensor {
  if (isComplex(self.type)) return partOf(self, 1)
  throw new PtliteError('INVALID_DTYPE', `imag is not implemented for tensors of dtype ${self.dtype}`)
}

export function view_as_real(self: Tensor): Tensor {
  return viewAsReal(self)
}

export function view_as_complex(self: Tensor): Tensor {
  return viewAsComplex(self)
}

/** A complex tensor of these parts, broadcast to one shape. */
export function complex(realPart: Tensor, imaginary: Tensor): Tensor {
  const { type } = realPart
  if ((type !== DType.float32 && type !== DType.float64) || imaginary.type !== type) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `complex: expected two float32 or two float64 tensors, found ${realPart.dtype} and ${imaginary.dtype}`,
    )
  }
  const shape = broadcastShapes(realPart.shape, imaginary.shape)
  const strides = resultStrides(shape, [realPart, imaginary])
  const result = emptyStrided(shape, strides, type === DType.float64 ? DType.complex128 : DType.complex64)
  copyInto(partOf(result, 0), realPart)
  copyInto(partOf(result, 1), imaginary)
  return result
}

/** A complex tensor from its magnitudes and angles. */
export function polar(magnitude: Tensor, angle: Tensor): Tensor {
  return complex(at.mul_Tensor(magnitude, at.cos(angle)), at.mul_Tensor(magnitude, at.sin(angle)))
}
