import { viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import type { DType } from '../../tensor/dtype.js'
import { MemoryFormat } from '../../tensor/options.js'
import { outputFor } from '../../tensor/out.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as stridedView from '../../tensor/view.js'
import * as axes from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import * as at from '../generated/dispatch.js'
import { clone } from './convert.js'
import { reshape, t } from './views.js'
import { view_dtype } from './view-variants.js'

/** The view operators as copies: each returns a dense tensor of its own. */

function copied(view: Tensor): Tensor {
  return clone(view, MemoryFormat.contiguous)
}

export function alias_copy(self: Tensor): Tensor {
  return copied(self)
}

export { alias_copy as detach_copy, alias_copy as _conj_copy }

export function _neg_view_copy(self: Tensor): Tensor {
  return copied(at.neg(self))
}

export function as_strided_copy(self: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  return copied(stridedView.asStrided(self, size, stride, offset))
}

export function _reshape_alias_copy(self: Tensor, size: number[], stride: number[]): Tensor {
  return copied(stridedView.asStrided(self, size, stride))
}

export function diagonal_copy(self: Tensor, offset: number, dim1: number, dim2: number): Tensor {
  return copied(stridedView.diagonal(self, offset, dim1, dim2))
}

export function expand_copy(self: Tensor, size: number[], _implicit: boolean): Tensor {
  return copied(v.expand(self, size))
}

export function permute_copy(self: Tensor, dims: number[]): Tensor {
  return copied(v.permute(self, dims))
}

export function select_copy_int(self: Tensor, dim: number, index: number): Tensor {
  return copied(v.select(self, dim, index))
}

export function slice_copy_Tensor(self: Tensor, dim: number, start: number | null, end: number | null, step: number): Tensor {
  return copied(v.slice(self, dim, start, end, step))
}

export function squeeze_copy(self: Tensor): Tensor {
  return copied(axes.squeeze(self))
}

export function squeeze_copy_dim(self: Tensor, dim: number): Tensor {
  return copied(axes.squeeze(self, dim))
}

export function squeeze_copy_dims(self: Tensor, dims: number[]): Tensor {
  return copied(axes.squeeze(self, dims))
}

export function t_copy(self: Tensor): Tensor {
  return copied(t(self))
}

export function transpose_copy_int(self: Tensor, dim0: number, dim1: number): Tensor {
  return copied(v.transpose(self, dim0, dim1))
}

export function unsqueeze_copy(self: Tensor, dim: number): Tensor {
  return copied(v.unsqueeze(self, dim))
}

export function view_copy_dtype(self: Tensor, dtype: DType): Tensor {
  return copied(view_dtype(self, dtype))
}

export function view_as_real_copy(self: Tensor): Tensor {
  return copied(viewAsReal(self))
}

export function view_as_complex_copy(self: Tensor): Tensor {
  return copied(viewAsComplex(self))
}

/** The elements in row-major order under another shape, whatever memory `self` has. */
export function view_copy(self: Tensor, size: number[]): Tensor {
  return copied(reshape(self, size))
}

export { view_copy as _reshape_copy }

export function unfold_copy(self: Tensor, dim: number, size: number, step: number): Tensor {
  return copied(stridedView.unfold(self, dim, size, step))
}

export function split_copy_Tensor(self: Tensor, size: number, dim: number): Tensor[] {
  return v.split(self, size, dim).map(copied)
}

export function split_with_sizes_copy(self: Tensor, sizes: number[], dim: number): Tensor[] {
  return v.splitWithSizes(self, sizes, dim).map(copied)
}

export function unbind_copy_int(self: Tensor, dim: number): Tensor[] {
  return axes.unbind(self, dim).map(copied)
}

export function narrow_copy(self: Tensor, dim: number, start: number, length: number, out?: Tensor): Tensor {
  const part = axes.narrow(self, dim, start, length)
  if (out === undefined) return copied(part)
  const result = outputFor(out, part.shape, part.type)
  copyInto(result, part)
  return result
}
