import { check } from '../../error.js'
import { MemoryFormat } from '../../tensor/options.js'
import { resize } from '../../tensor/out.js'
import { contiguousStrides } from '../../tensor/shape.js'
import { Storage } from '../../tensor/storage.js'
import { become, isPerChannel, Tensor, viewOf } from '../../tensor/tensor.js'
import type { Device } from '../../tensor/value.js'
import { checkStrided } from '../../tensor/view.js'
import { stridesFor, suggestedFormat } from '../../tensor/view-strides.js'
import type { Composite } from '../support/generated/interfaces.js'

/** Operators that change which memory a tensor is a view of. */

function checkSameType(self: Tensor, other: Tensor): void {
  check(self.type === other.type, () => `expected a tensor of dtype ${self.dtype}, found ${other.dtype}`)
}

export function resize_(self: Tensor, size: number[], format: number | null): Tensor {
  check(self.quant === null || !isPerChannel(self.quant), () => 'resize_: a tensor quantized per channel keeps its size')
  if (format === null) return resize(self, size)
  check(format !== MemoryFormat.preserve, () => 'resize_ cannot keep the layout; expected a memory format other than preserve')
  return resize(self, size, stridesFor(size, format))
}

export function resize_as_(self: Tensor, template: Tensor, format: number | null): Tensor {
  const keep = format === MemoryFormat.preserve
  return resize_(self, [...template.shape], keep ? suggestedFormat(template.shape, template.strides) : format)
}

export function _resize_output_(self: Tensor, size: number[], _device: Device): Tensor {
  return resize(self, size)
}

export function set__source_Tensor(self: Tensor, source: Tensor): Tensor {
  checkSameType(self, source)
  become(self, source.storage, source.offset, source.shape, source.strides)
  return self
}

export function set__source_Tensor_storage_offset(self: Tensor, source: Tensor, offset: number, size: number[], stride: number[]): Tensor {
  checkSameType(self, source)
  const strides = stride.length === 0 ? contiguousStrides(size) : stride.slice()
  checkStrided(source, size, strides, offset)
  become(self, source.storage, offset, size.slice(), strides)
  return self
}

/** All of `source` as a vector. */
export function set__source_Storage(self: Tensor, source: Storage): Tensor {
  become(self, source, 0, [Math.floor(source.byteLength / self.itemSize)], [1])
  return self
}

export const set__source_Storage_storage_offset: Composite['set__source_Storage_storage_offset'] = (self, source, offset, size, stride) => {
  const strides = stride.length === 0 ? contiguousStrides(size) : stride.slice()
  checkStrided(self, size, strides, offset, source)
  become(self, source, offset, size.slice(), strides)
  return self
}

export function set_(self: Tensor): Tensor {
  become(self, Storage.allocate(0), 0, [0], [1])
  return self
}

export function set_data(self: Tensor, source: Tensor): void {
  Tensor.retype(self, source.type, source.quant)
  become(self, source.storage, source.offset, source.shape, source.strides)
}

/** The same elements, as a tensor that is not part of any later change of `self`'s shape. */
export function data(self: Tensor): Tensor {
  return viewOf(self, self.shape, self.strides)
}

export function is_set_to(self: Tensor, other: Tensor): boolean {
  return (
    self.storage === other.storage &&
    self.offset === other.offset &&
    self.shape.join() === other.shape.join() &&
    self.strides.join() === other.strides.join()
  )
}
