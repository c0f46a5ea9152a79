import { check } from '../../error.js'
import { emptyLike } from '../../tensor/iterator.js'
import { placesOf } from '../../tensor/out.js'
import { type AnyScalar, Float } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'

/** A new tensor of self's shape and layout. */
export function fill(self: Tensor, value: AnyScalar | Tensor): Tensor {
  return fill_(emptyLike(self), value)
}

/** `value` is a number or a 0-d tensor. */
export function fill_(self: Tensor, value: AnyScalar | Tensor): Tensor {
  if (value instanceof Tensor) {
    check(value.shape.length === 0, () => `fill_ expects a value of 0 dimensions, found ${value.shape.length}`)
    copyInto(self, value)
  } else {
    // every element of a place is written the same value, so once will do
    fillScalar(placesOf(self), value)
  }
  return self
}

export function zero(self: Tensor): Tensor {
  return zero_(emptyLike(self))
}

export function zero_(self: Tensor): Tensor {
  fillScalar(placesOf(self), 0)
  return self
}

/** self = src, broadcast and converted. */
export function copy_(self: Tensor, src: Tensor, _nonBlocking: boolean): Tensor {
  copyInto(self, src)
  return self
}

export function copy__Tensor(self: Tensor, other: Tensor): Tensor {
  return copy_(self, other, false)
}

export function copy__int(self: Tensor, other: number): Tensor {
  fillScalar(self, other)
  return self
}

export function copy__float(self: Tensor, other: number): Tensor {
  fillScalar(self, new Float(other))
  return self
}
