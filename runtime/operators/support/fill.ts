import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { partOf } from '../../tensor/complex.js'
import { DType, dtypeName, holdsComplex, isComplex } from '../../tensor/dtype.js'
import { denseLoop, planLoop } from '../../tensor/iterator.js'
import { type AnyScalar, checkInRange, Complex, Float, type Scalar, scalarBits } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { scalarTensor } from './make.js'

/** Sets every element to a scalar, converted to the dtype of `self`; throws INVALID_ARGUMENT out of its range, or for a number with an imaginary part where only bools and complex tensors take it. The integers of quantized tensors are set as they are. */
export function fillScalar(self: Tensor, value: AnyScalar): void {
  if (holdsComplex(self)) {
    const isPair = value instanceof Complex
    fillReal(partOf(self, 0), isPair ? new Float(value.re) : value)
    fillReal(partOf(self, 1), isPair ? new Float(value.im) : 0)
  } else {
    fillReal(self, value instanceof Complex ? realValue(value, self.type) : value)
  }
}

/** The number that a real dtype makes of a complex one. */
function realValue({ re, im }: Complex, type: DType): Scalar {
  if (type === DType.bool) return re !== 0 || im !== 0
  check(im === 0, () => `the complex number (${re}, ${im}) cannot be converted to ${dtypeName(type)} without overflow`)
  return new Float(re)
}

/** A 0-d tensor of this number. */
export function anyScalarTensor(value: AnyScalar, type: DType): Tensor {
  if (!isComplex(type) && !(value instanceof Complex)) return scalarTensor(value, type)
  const t = empty([], type)
  fillScalar(t, value)
  return t
}

function fillReal(self: Tensor, value: Scalar): void {
  checkInRange(self.type, value)
  const [low, high] = scalarBits(self.type, value)
  const loop = self.isContiguous ? denseLoop(self.numel) : planLoop(self.shape, [self])
  kernels.fill({
    ndim: loop.ndim,
    item_size: self.itemSize,
    low,
    high,
    n: loop.n,
    out: self.address,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
  })
  noteWrite(self)
}
