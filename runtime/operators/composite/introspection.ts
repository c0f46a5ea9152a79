import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { anyItemOf, readTensor } from '../../tensor/data.js'
import { viewAsReal } from '../../tensor/complex.js'
import { type AnyOperand, joined, promoteAny } from '../../tensor/promote.js'
import { DType, holdsComplex, isComplex, isFloating } from '../../tensor/dtype.js'
import { noteRead } from '../../tensor/observe.js'
import { type AnyScalar, Complex } from '../../tensor/scalar.js'
import { broadcastShapes, sameShape, wrapDim } from '../../tensor/shape.js'
import { type Quant, type Tensor, viewOf } from '../../tensor/tensor.js'
import type { Device } from '../../tensor/value.js'
import { expand } from '../../tensor/view.js'
import { isContiguousAs } from '../../tensor/view-strides.js'
import { tensorOfInts } from '../../tensor/host-values.js'
import { castTo, contiguousOf } from '../support/copy.js'

/** Operators that ask about tensors: dtypes, single values, equality. */

export function stride(self: Tensor): number[] {
  return self.strides.slice()
}

export function stride_int(self: Tensor, dim: number): number {
  check(self.shape.length > 0, () => 'a 0-d tensor has no dimensions to ask the stride of')
  return self.strides[wrapDim(dim, self.shape.length)]!
}

export function numel(self: Tensor): number {
  return self.numel
}

export function dim(self: Tensor): number {
  return self.shape.length
}

export function storage_offset(self: Tensor): number {
  return self.offset
}

export function element_size(self: Tensor): number {
  return self.itemSize
}

export function is_contiguous(self: Tensor): boolean {
  return self.isContiguous
}

export function is_contiguous_memory_format(self: Tensor, format: number): boolean {
  return isContiguousAs(self.shape, self.strides, format)
}

export function is_floating_point(self: Tensor): boolean {
  return isFloating(self.type)
}

export function is_signed(self: Tensor): boolean {
  return self.type !== DType.uint8 && self.type !== DType.bool && self.type !== DType.quint8
}

export function is_same_size(self: Tensor, other: Tensor): boolean {
  return sameShape(self.shape, other.shape)
}

function never(_self: Tensor): boolean {
  return false
}

export { never as is_conj, never as is_neg, never as is_inference, never as is_distributed, never as _is_zerotensor }
export { never as retains_grad }

export function is_pinned(_self: Tensor, _device: Device | null): boolean {
  return false
}

export function is_leaf(_self: Tensor): boolean {
  return true
}

/** Gradients are not recorded here. */
export function retain_grad(_self: Tensor): void {
  return
}

export function output_nr(_self: Tensor): number {
  return 0
}

export function _version(self: Tensor): number {
  return self.storage.version
}

export function _has_same_storage_numel(self: Tensor, other: Tensor): boolean {
  return self.storage.byteLength / self.itemSize === other.storage.byteLength / other.itemSize
}

export function _shape_as_tensor(self: Tensor): Tensor {
  return tensorOfInts(self.shape)
}

/** The one element as a number. */
export function item(self: Tensor): AnyScalar {
  check(self.numel === 1, () => `item() expects a tensor of one element, found shape [${self.shape.join(', ')}]`)
  return anyItemOf(self)
}

/** The first element as a number, without a look at how many there are. */
export function _local_scalar_dense(self: Tensor): AnyScalar {
  check(self.numel > 0, () => `expected a tensor with elements, found shape [${self.shape.join(', ')}]`)
  return anyItemOf(viewOf(self, [], []))
}

export function is_nonzero(self: Tensor): boolean {
  check(self.numel === 1, () => `the truth of a tensor is that of its one element, found shape [${self.shape.join(', ')}]`)
  const value = anyItemOf(self)
  return value instanceof Complex ? value.re !== 0 || value.im !== 0 : Number(value) !== 0
}

/** Whether sizes and elements agree, those of different dtypes as their common one; NaN differs from itself. */
export function equal(self: Tensor, other: Tensor): boolean {
  if (!sameShape(self.shape, other.shape)) return false
  if (self.isQuantized && self.type !== other.type) return false
  if (self.type !== other.type) {
    const common = joined(self.type, other.type)
    return equal(castTo(self, common), castTo(other, common))
  }
  if (self.numel === 0) return true
  if (!sameQuant(self.quant, other.quant)) return false
  if (holdsComplex(self)) return equal(viewAsReal(self), viewAsReal(other))
  noteRead(self)
  noteRead(other)
  const a = contiguousOf(self)
  const b = contiguousOf(other)
  return kernels.equal({ dtype: self.type, count: self.numel, a: a.address, b: b.address }) !== 0
}

function sameQuant(a: Quant | null, b: Quant | null): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

export function allclose(self: Tensor, other: Tensor, rtol: number, atol: number, equalNan: boolean): boolean {
  check(self.type === other.type, () => `allclose expects one dtype, found ${self.dtype} and ${other.dtype}`)
  check(rtol >= 0 && atol >= 0, () => `expected tolerances of at least 0, found rtol ${rtol} and atol ${atol}`)
  const shape = broadcastShapes(self.shape, other.shape)
  const [a, b] = [doubles(expand(self, shape)), doubles(expand(other, shape))]
  return a.every((x, i) => {
    const y = b[i]!
    return (
      x === y || (equalNan && Number.isNaN(x) && Number.isNaN(y)) || (Number.isFinite(x) && Math.abs(x - y) <= atol + Math.abs(rtol * y))
    )
  })
}

function doubles(self: Tensor): Float64Array {
  return readTensor(castTo(self, DType.float64)) as Float64Array
}

/** The dtype that an operator on both computes in. */
export function result_type(a: AnyOperand, b: AnyOperand): DType {
  return promoteAny([a, b])
}

export { result_type as result_type_Tensor, result_type as result_type_Scalar }
export { result_type as result_type_Scalar_Tensor, result_type as result_type_Scalar_Scalar }
export { canCast as can_cast } from '../../tensor/dtype.js'
export { promoteTypes as promote_types } from '../../tensor/promote.js'

export function is_complex(self: Tensor): boolean {
  return isComplex(self.type)
}
