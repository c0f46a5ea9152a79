import { check } from '../error.js'
import { wrapDim } from './shape.js'
import { type Tensor, viewOf } from './tensor.js'
import { inferSize, viewStrides } from './view-strides.js'
import { checkChannels } from './reshaping.js'
import { checkStrided, strided } from './view.js'

/** `view` where the memory allows it, else null. */
export function tryView(self: Tensor, shape: readonly number[]): Tensor | null {
  const sizes = inferSize(shape, self.numel)
  checkChannels(self, sizes)
  const strides = viewStrides(self.shape, self.strides, sizes)
  return strides === null ? null : viewOf(self, sizes, strides)
}

/** `as_strided`; without `offset` the view starts where `self` does. */
export function asStrided(self: Tensor, shape: readonly number[], strides: readonly number[], offset: number | null = null): Tensor {
  const start = offset ?? self.offset
  checkStrided(self, shape, strides, start)
  return strided(self, shape.slice(), strides.slice(), start)
}

/** `unfold`: windows of `size` every `step` elements; the window becomes the last dimension. */
export function unfold(self: Tensor, dim: number, size: number, step: number): Tensor {
  const rank = self.shape.length
  const d = wrapDim(dim, rank)
  const length = rank === 0 ? 1 : self.shape[d]!
  check(size >= 0 && size <= length, () => `expected a window of 0 to ${length} elements, found ${size}`)
  check(step > 0, () => `expected a step above 0, found ${step}`)
  const stride = rank === 0 ? 1 : self.strides[d]!
  const shape = [...self.shape, size]
  const strides = [...self.strides, stride]
  if (rank > 0) {
    shape[d] = Math.floor((length - size) / step) + 1
    strides[d] = step * stride
  }
  return strided(self, shape, strides)
}

/** `diagonal`: drops both dimensions and appends the diagonal. */
export function diagonal(self: Tensor, offset = 0, dim1 = 0, dim2 = 1): Tensor {
  const rank = self.shape.length
  const a = wrapDim(dim1, rank)
  const b = wrapDim(dim2, rank)
  check(a !== b, () => `expected two different dimensions, found ${dim1} and ${dim2}`)
  const rows = self.shape[a]! + Math.min(offset, 0)
  const columns = self.shape[b]! - Math.max(offset, 0)
  const length = Math.max(Math.min(rows, columns), 0)
  const skip = length === 0 ? 0 : offset >= 0 ? offset * self.strides[b]! : -offset * self.strides[a]!
  const kept = (_: number, d: number): boolean => d !== a && d !== b
  return strided(
    self,
    [...self.shape.filter(kept), length],
    [...self.strides.filter(kept), self.strides[a]! + self.strides[b]!],
    self.offset + skip,
  )
}
