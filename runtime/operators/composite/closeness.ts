import { check } from '../../error.js'
import { partOf } from '../../tensor/complex.js'
import { DType, isComplex, isFloating } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { emptyLike } from '../../tensor/iterator.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'

export function positive(self: Tensor): Tensor {
  check(self.type !== DType.bool, () => 'positive is not implemented for dtype bool')
  return self
}

export function isfinite(self: Tensor): Tensor {
  if (isComplex(self.type)) return at.logical_and(isfinite(partOf(self, 0)), isfinite(partOf(self, 1)))
  if (!isFloating(self.type)) return filled(self, true)
  return at.lt_Scalar(at.abs(self), new Float(Infinity))
}

/** Where the imaginary part is 0: everywhere in real tensors. */
export function isreal(self: Tensor): Tensor {
  if (isComplex(self.type)) return at.eq_Scalar(partOf(self, 1), 0)
  return filled(self, true)
}

function filled(self: Tensor, value: boolean): Tensor {
  const result = emptyLike(self, DType.bool)
  fillScalar(result, value)
  return result
}

/** |self - other| <= atol + rtol * |other|, or equal; NaNs are close to each other where `equalNan`. */
export function isclose(self: Tensor, other: Tensor, rtol: number, atol: number, equalNan: boolean): Tensor {
  check(self.type === other.type, () => `isclose expects tensors of one dtype, found ${self.dtype} and ${other.dtype}`)
  check(rtol >= 0 && atol >= 0, () => `isclose expects rtol and atol of at least 0, found ${rtol} and ${atol}`)
  let close = at.eq_Tensor(self, other)
  if (equalNan && (isFloating(self.type) || isComplex(self.type))) {
    check(
      sameShape(self.shape, close.shape),
      () => `isclose with equal_nan expects self to have the broadcast shape [${close.shape.join(', ')}]`,
    )
    close = at.logical_or(close, at.logical_and(at.isnan(self), at.isnan(other)))
  }
  if (rtol === 0 && atol === 0) return close
  const real = isFloating(self.type)
  const cast = (t: Tensor): Tensor => (real ? t : at.mul_Scalar(t, new Float(1)))
  const allowed = at.add_Scalar(at.abs(at.mul_Scalar(cast(other), new Float(rtol))), new Float(atol), 1)
  const difference = at.abs(at.sub_Tensor(cast(self), cast(other), 1))
  const near = at.logical_and(at.lt_Scalar(difference, new Float(Infinity)), at.le_Tensor(difference, allowed))
  return at.logical_or(close, near)
}
