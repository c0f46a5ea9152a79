import { check } from '../../error.js'
import { sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as stridedView from '../../tensor/view.js'
import { cloneWithStrides, copyInto } from '../support/copy.js'

/** Copies of a tensor in which one view has other contents. */

function withView(self: Tensor, src: Tensor, part: (copy: Tensor) => Tensor): Tensor {
  const out = cloneWithStrides(self)
  const target = part(out)
  check(
    sameShape(target.shape, src.shape),
    () => `expected a source of shape [${target.shape.join(', ')}], found [${src.shape.join(', ')}]`,
  )
  copyInto(target, src)
  return out
}

export function slice_scatter(self: Tensor, src: Tensor, dim: number, start: number | null, end: number | null, step: number): Tensor {
  return withView(self, src, (copy) => v.slice(copy, dim, start, end, step))
}

export function select_scatter(self: Tensor, src: Tensor, dim: number, index: number): Tensor {
  return withView(self, src, (copy) => v.select(copy, dim, index))
}

export function diagonal_scatter(self: Tensor, src: Tensor, offset: number, dim1: number, dim2: number): Tensor {
  return withView(self, src, (copy) => stridedView.diagonal(copy, offset, dim1, dim2))
}

export function as_strided_scatter(self: Tensor, src: Tensor, size: number[], stride: number[], offset: number | null): Tensor {
  return withView(self, src, (copy) => stridedView.asStrided(copy, size, stride, offset))
}
