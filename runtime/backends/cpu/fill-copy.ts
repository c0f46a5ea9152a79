import { check } from '../../error.js'
import { checkOverlap, emptyLike } from '../../tensor/iterator.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { isPerChannel, Tensor } from '../../tensor/tensor.js'
import { quantize_per_tensor } from './quantize.js'
import { copyInto } from './support/copy.js'
import { fillScalar } from './support/fill.js'

/** A new tensor of self's shape and layout. */
export function fill(self: Tensor, value: Scalar | Tensor): Tensor {
  return fill_(emptyLike(self), value)
}

/** `value` is a number or a 0-d tensor. */
export function fill_(self: Tensor, value: Scalar | Tensor): Tensor {
  checkOverlap(self, [])
  if (value instanceof Tensor) {
    check(value.shape.length === 0, () => `fill_ expects a value of 0 dimensions, found ${value.shape.length}`)
    copyInto(self, value)
  } else {
    fillScalar(self, value)
  }
  return self
}

export function zero(self: Tensor): Tensor {
  return zero_(emptyLike(self))
}

export function zero_(self: Tensor): Tensor {
  checkOverlap(self, [])
  fillScalar(self, 0)
  return self
}

/** self = src, broadcast and converted. A quantized tensor takes over a quantized source's scale and keeps its own for a plain one. */
export function copy_(self: Tensor, src: Tensor, _nonBlocking: boolean): Tensor {
  copyInto(self, self.quant === null && src.quant === null ? src : quantizedSource(self, src))
  return self
}

/** What is to be copied into `self` where one of the two is quantized. */
function quantizedSource(self: Tensor, src: Tensor): Tensor {
  const { quant } = self
  check(quant !== null, () => `a ${src.dtype} tensor cannot be copied into a ${self.dtype} one; use dequantize`)
  if (src.quant !== null) {
    check(src.type === self.type, () => `expected a ${self.dtype} tensor to copy, found ${src.dtype}`)
    self.quant = src.quant
    return src
  }
  check(!isPerChannel(quant), () => 'a plain tensor cannot be copied into one quantized per channel')
  return quantize_per_tensor(src, quant.scale, quant.zeroPoint, self.type)
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
