import { check, PtliteError } from '../../error.js'
import { type DType, dtypeName } from '../../tensor/dtype.js'
import { preservedStrides } from '../../tensor/iterator.js'
import { Layout, MemoryFormat } from '../../tensor/options.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { isContiguousAs, stridesFor } from '../../tensor/view-strides.js'
import { copyInto } from '../support/copy.js'

/** Operators that copy or convert. Everything lives on the CPU, so a device argument changes nothing. */

/** Throws UNSUPPORTED_DTYPE for a layout other than strided. */
export function checkStridedLayout(layout: number | null): void {
  if (layout !== null && layout !== Layout.strided)
    throw new PtliteError('UNSUPPORTED_DTYPE', `expected the strided layout, found layout ${layout}`)
}

/** Strides of a copy of `self` in this memory format; null keeps the layout. */
function stridesOfCopy(self: Tensor, format: number | null): readonly number[] {
  return format === null || format === MemoryFormat.preserve ? preservedStrides(self) : stridesFor(self.shape, format)
}

export function copied(self: Tensor, dtype: DType, format: number | null): Tensor {
  check(dtype === self.type || !self.isQuantized, () => `a ${self.dtype} tensor cannot be converted to ${dtypeName(dtype)}; use dequantize`)
  const out = emptyStrided(self.shape, stridesOfCopy(self, format), dtype, self.quant)
  copyInto(out, self)
  return out
}

export function clone(self: Tensor, format: number | null): Tensor {
  return copied(self, self.type, format)
}

export function contiguous(self: Tensor, format: number): Tensor {
  const kept = format === MemoryFormat.preserve && self.isContiguous
  check(kept || format !== MemoryFormat.preserve, () => 'contiguous() cannot keep the layout; expected a memory format other than preserve')
  return kept || isContiguousAs(self.shape, self.strides, format) ? self : copied(self, self.type, format)
}

/** `to`: the tensor itself where nothing changes and no copy is asked for. */
export function convert(self: Tensor, dtype: DType | null, copy: boolean, format: number | null): Tensor {
  const same = dtype === null || dtype === self.type
  const keeps = format === null || format === MemoryFormat.preserve || isContiguousAs(self.shape, self.strides, format)
  return same && keeps && !copy ? self : copied(self, dtype ?? self.type, format)
}

export function to_dtype(self: Tensor, dtype: DType, _nonBlocking: boolean, copy: boolean, format: number | null): Tensor {
  return convert(self, dtype, copy, format)
}

function same(self: Tensor): Tensor {
  return self
}

export { same as cpu, same as cuda, same as lift }
