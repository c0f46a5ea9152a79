import { check } from '../../error.js'
import { DType, dtypeFromCode } from '../../tensor/dtype.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import { isSparse } from '../../tensor/sparse.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Device } from '../../tensor/value.js'
import { expand } from '../../tensor/view.js'
import { cloneWithStrides, copyInto } from '../support/copy.js'
import type { Composite } from '../support/generated/interfaces.js'
import { sparseToDense } from './sparse.js'
import { checkStridedLayout, clone, convert, copied } from './convert.js'

export const to_device: Composite['to_device'] = (self, _device, dtype, _nonBlocking, copy, format) => convert(self, dtype, copy, format)

export function to_dtype_layout(self: Tensor, options: TensorOptions, _nonBlocking: boolean, copy: boolean, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  return convert(self, options.dtype, copy, format)
}

export function to_other(self: Tensor, other: Tensor, _nonBlocking: boolean, copy: boolean, format: number | null): Tensor {
  return convert(self, other.type, copy, format)
}

/** Without a device or dtype, a copy has dtype uint8: so it is in PyTorch, which reads an empty optional there. */
function toPrim(self: Tensor, device: Device | null, dtype: number | null, copy: boolean): Tensor {
  if (device === null && dtype === null) return copy ? convert(self, DType.uint8, true, null) : self
  return convert(self, dtype === null ? null : dtypeFromCode(dtype), copy, null)
}

export function to_prim_Device(self: Tensor, device: Device | null, dtype: number | null, _nonBlocking: boolean, copy: boolean): Tensor {
  return toPrim(self, device, dtype, copy)
}

export function to_prim_dtype(self: Tensor, dtype: number | null, _nonBlocking: boolean, copy: boolean): Tensor {
  return toPrim(self, null, dtype, copy)
}

export function to_prim_other(self: Tensor, _nonBlocking: boolean, copy: boolean): Tensor {
  return toPrim(self, null, null, copy)
}

export function _to_copy(self: Tensor, options: TensorOptions, _nonBlocking: boolean, format: number | null): Tensor {
  checkStridedLayout(options.layout)
  return copied(self, options.dtype ?? self.type, format)
}

export function type_as(self: Tensor, other: Tensor): Tensor {
  return convert(self, other.type, false, null)
}

export function _cast_Byte(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.uint8, false, null)
}

export function _cast_Char(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.int8, false, null)
}

export function _cast_Short(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.int16, false, null)
}

export function _cast_Int(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.int32, false, null)
}

export function _cast_Long(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.int64, false, null)
}

export function _cast_Half(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.float16, false, null)
}

export function _cast_Float(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.float32, false, null)
}

export function _cast_Double(self: Tensor, _nonBlocking: boolean): Tensor {
  return convert(self, DType.float64, false, null)
}

/** `copy`: the elements of `src`, broadcast to the shape and converted to the dtype of `self`. */
export function copy(self: Tensor, src: Tensor, _nonBlocking: boolean): Tensor {
  const out = cloneWithStrides(self)
  copyInto(out, expand(src, self.shape))
  return out
}

export function pin_memory(self: Tensor, _device: Device | null): Tensor {
  return self
}

export { pin_memory as _pin_memory }

export function lift_fresh_copy(self: Tensor): Tensor {
  return clone(self, MemoryFormat.contiguous)
}

export function to_dense(self: Tensor, dtype: DType | null, _maskedGrad: boolean | null): Tensor {
  return convert(isSparse(self) ? sparseToDense(self) : self, dtype, false, null)
}

/** The dense form of a sparse tensor, of which PyTorch's kernel takes no dtype. */
export function _to_dense(self: Tensor, dtype: DType | null, _maskedGrad: boolean | null): Tensor {
  check(isSparse(self), () => '_to_dense: expected a sparse tensor, found a dense one')
  check(dtype === null, () => '_to_dense: expected no dtype')
  return sparseToDense(self)
}

export function _to_cpu(tensors: Tensor[]): Tensor[] {
  return [...tensors]
}
