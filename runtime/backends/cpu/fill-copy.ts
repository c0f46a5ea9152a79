import { check } from '../../error.js'
import { checkOverlap, emptyLike, resizeOut } from '../../tensor/iterator.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { copyInto } from './support/copy.js'
import { fillScalar } from './support/fill.js'

/** The tensor that gets self's shape and new contents: a new one, self, or `out` resized. */
function target(self: Tensor, out: Tensor | undefined): Tensor {
  if (out === undefined) return emptyLike(self)
  if (out !== self) resizeOut(out, self.shape)
  checkOverlap(out, [])
  return out
}

/** `value` is a number or a 0-d tensor. */
export function fill_out(self: Tensor, value: Scalar | Tensor, out?: Tensor): Tensor {
  if (value instanceof Tensor) {
    check(value.shape.length === 0, () => `fill_ expects a value of 0 dimensions, found ${value.shape.length}`)
    const result = target(self, out)
    copyInto(result, value)
    return result
  }
  const result = target(self, out)
  fillScalar(result, value)
  return result
}

export function zero_out(self: Tensor, out?: Tensor): Tensor {
  const result = target(self, out)
  fillScalar(result, 0)
  return result
}

/** self = src, broadcast and converted. */
export function copy_(self: Tensor, src: Tensor, _nonBlocking: boolean): Tensor {
  copyInto(self, src)
  return self
}

export function copy__Tensor(self: Tensor, other: Tensor): Tensor {
  copyInto(self, other)
  return self
}

export function copy__int(self: Tensor, other: number): Tensor {
  fillScalar(self, other)
  return self
}

export function copy__float(self: Tensor, other: number): Tensor {
  fillScalar(self, new Float(other))
  return self
}
