import { check, PtliteError } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import { checkOverlap } from '../../tensor/out.js'
import { notComplex } from '../../tensor/promote.js'
import { type AnyScalar, Float, scalarToNumber, type Scalar } from '../../tensor/scalar.js'
import { broadcastShapes, sameShape } from '../../tensor/shape.js'
import { empty, isPerChannel, type Quant, Tensor } from '../../tensor/tensor.js'
import { index_put } from '../cpu/advanced-index.js'
import { masked_fill__Scalar as fillMasked } from '../cpu/index-fill.js'
import { contiguousCopy, copyInto } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import { expandTo } from '../support/make.js'
import { integersOf, perTensor, quantizeNumber, quantizePerChannel, quantizePerTensor } from '../support/quantization.js'

/** Writing numbers and tensors into quantized tensors. */

/**
 * self = src. A quantized source hands over its parameters and must be quantized in the same way; float32 values are
 * quantized with the parameters of `self`. Nothing quantized can be copied into a plain tensor.
 */
export function copy_(self: Tensor, src: Tensor, _nonBlocking: boolean): Tensor {
  const { quant } = self
  check(quant !== null, () => `copy_: a ${src.dtype} tensor cannot be copied into a ${self.dtype} one; use dequantize`)
  if (src.quant !== null) {
    check(src.type === self.type, () => `copy_: expected a ${self.dtype} tensor to copy, found ${src.dtype}`)
    check(isPerChannel(src.quant) === isPerChannel(quant), () => 'copy_: both tensors must be quantized per tensor, or both per channel')
    check(
      !isPerChannel(src.quant) || sameShape(self.shape, src.shape),
      () => `copy_: expected a tensor of shape [${self.shape.join(', ')}] quantized per channel, found [${src.shape.join(', ')}]`,
    )
    copyInto(self, src)
    Tensor.retype(self, self.type, src.quant)
    return self
  }
  if (src.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `copy_: expected a float32 tensor to quantize, found ${src.dtype}`)
  copyInto(self, quantizedAs(expandTo(src, self.shape), quant, self.type))
  return self
}

function quantizedAs(x: Tensor, quant: Quant, type: DType): Tensor {
  return isPerChannel(quant) ? quantizePerChannel(x, quant, type) : quantizePerTensor(x, quant.scale, quant.zeroPoint, type)
}

function numberIn(value: AnyScalar | Tensor, what: string): number {
  if (!(value instanceof Tensor)) return scalarToNumber(notComplex(value))
  check(value.dim === 0, () => `${what}: expected a value of 0 dimensions, found ${value.dim}`)
  const raw = Number(readTensor(value)[0])
  if (value.quant === null) return raw
  const { scale, zeroPoint } = perTensor(value, what)
  return (raw - zeroPoint) * scale
}

/** Every element becomes what the number quantizes to, per channel where `self` is quantized so. */
export function fill_(self: Tensor, value: AnyScalar | Tensor): Tensor {
  checkOverlap(self, [])
  const number = numberIn(value, 'fill_')
  const { quant } = self
  check(quant !== null, () => `fill_: expected a quantized tensor, found ${self.dtype}`)
  if (isPerChannel(quant)) {
    const x = empty([], DType.float32)
    fillScalar(x, new Float(number))
    copyInto(self, quantizePerChannel(expandTo(x, self.shape), quant, self.type))
  } else {
    fillScalar(integersOf(self), quantizeNumber(number, quant, self.type))
  }
  return self
}

export function fill(self: Tensor, value: AnyScalar | Tensor): Tensor {
  return fill_(emptyLike(self), value)
}

type Indices = (Tensor | null)[]

/** Values are float32 and take the parameters of the tensor written to. */
export function quantized_index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: boolean, out?: Tensor): Tensor {
  const { scale, zeroPoint } = perTensor(self, 'index_put')
  check(values.quant === null, () => 'index_put: values for a quantized tensor must not be quantized')
  if (values.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `index_put: expected float32 values, found ${values.dtype}`)
  check(!accumulate, () => 'index_put: elements of a quantized tensor cannot be accumulated')
  const target = out ?? contiguousCopy(self)
  const written = integersOf(target)
  index_put(written, indices, integersOf(quantizePerTensor(values, scale, zeroPoint, self.type)), false, written)
  return target
}

export function _index_put_impl_(self: Tensor, indices: Indices, values: Tensor, accumulate: boolean, _unsafe: boolean): Tensor {
  return quantized_index_put(self, indices, values, accumulate, self)
}

function maskedFill(self: Tensor, mask: Tensor, value: Scalar | Tensor): Tensor {
  const integer = quantizeNumber(numberIn(value, 'masked_fill'), perTensor(self, 'masked_fill'), self.type)
  fillMasked(integersOf(self), mask, integer)
  return self
}

export function masked_fill__Scalar(self: Tensor, mask: Tensor, value: AnyScalar): Tensor {
  return maskedFill(self, mask, notComplex(value))
}

export function masked_fill__Tensor(self: Tensor, mask: Tensor, value: Tensor): Tensor {
  return maskedFill(self, mask, value)
}

function maskedCopy(self: Tensor, mask: Tensor, value: Scalar | Tensor): Tensor {
  return maskedFill(contiguousCopy(expandTo(self, broadcastShapes(self.shape, mask.shape))), mask, value)
}

export function masked_fill_Scalar(self: Tensor, mask: Tensor, value: AnyScalar): Tensor {
  return maskedCopy(self, mask, notComplex(value))
}

export function masked_fill_Tensor(self: Tensor, mask: Tensor, value: Tensor): Tensor {
  return maskedCopy(self, mask, value)
}
