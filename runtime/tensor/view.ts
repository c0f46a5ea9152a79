import { check } from '../error.js'
import { extentOf, numelOf, wrapDim } from './shape.js'
import type { Storage } from './storage.js'
import { isPerChannel, type Quant, Tensor, viewOf } from './tensor.js'
import { inferSize, viewStrides } from './view-strides.js'

/** A view with other sizes and strides. Per-channel quantized tensors have no such views, as in PyTorch. */
export function strided(self: Tensor, shape: readonly number[], strides: readonly number[], offset = self.offset): Tensor {
  checkStridable(self)
  return viewOf(self, shape, strides, offset)
}

export function checkStridable(self: Tensor): void {
  check(self.quant === null || !isPerChannel(self.quant), () => 'a tensor quantized per channel cannot be viewed with other strides')
}

export function without<T>(list: readonly T[], index: number): T[] {
  const out = list.slice()
  out.splice(index, 1)
  return out
}

/** The same elements under a new Tensor (`alias`, `detach`). */
export function alias(self: Tensor): Tensor {
  return viewOf(self, self.shape, self.strides)
}

/** `view`: one size may be -1. Throws INVALID_ARGUMENT where the memory cannot have this shape. */
export function view(self: Tensor, shape: readonly number[]): Tensor {
  const sizes = inferSize(shape, self.numel)
  const strides = viewStrides(self.shape, self.strides, sizes)
  check(
    strides !== null,
    () =>
      `a tensor of shape [${self.shape.join(', ')}] and strides [${self.strides.join(', ')}] cannot be viewed as [${sizes.join(', ')}]; use reshape`,
  )
  checkChannels(self, sizes)
  return viewOf(self, sizes, strides)
}

/** Throws INVALID_ARGUMENT unless a view of these sizes, strides and offset stays inside the storage of `self`, or inside `storage`. */
export function checkStrided(
  self: Tensor,
  shape: readonly number[],
  strides: readonly number[],
  offset: number,
  storage: Storage = self.storage,
): void {
  check(shape.length === strides.length, () => `expected as many strides as sizes, found ${strides.length} and ${shape.length}`)
  check(
    shape.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${shape.join(', ')}]`,
  )
  check(
    strides.every((n) => n >= 0),
    () => `expected strides of at least 0, found [${strides.join(', ')}]`,
  )
  check(offset >= 0, () => `expected a storage offset of at least 0, found ${offset}`)
  const needed = numelOf(shape) === 0 ? 0 : (offset + extentOf(shape, strides)) * self.itemSize
  check(
    needed <= storage.byteLength,
    () =>
      `sizes [${shape.join(', ')}], strides [${strides.join(', ')}] and offset ${offset} need ${needed} bytes, the storage has ${storage.byteLength}`,
  )
}

export function permute(self: Tensor, dims: readonly number[]): Tensor {
  const rank = self.shape.length
  check(dims.length === rank, () => `expected ${rank} dimensions to permute, found [${dims.join(', ')}]`)
  const shape = new Array<number>(rank)
  const strides = new Array<number>(rank)
  let seen = 0
  for (let i = 0; i < rank; i++) {
    const d = wrapDim(dims[i]!, rank)
    check((seen & (1 << d)) === 0, () => `expected each dimension once, found [${dims.join(', ')}]`)
    seen |= 1 << d
    shape[i] = self.shape[d]!
    strides[i] = self.strides[d]!
  }
  return strided(self, shape, strides)
}

/** Sizes and strides with two dimensions exchanged. */
export function transposed(self: Tensor, dim0: number, dim1: number): [number[], number[]] {
  const a = wrapDim(dim0, self.shape.length)
  const b = wrapDim(dim1, self.shape.length)
  const shape = self.shape.slice()
  const strides = self.strides.slice()
  if (a !== b) {
    checkStridable(self)
    ;[shape[a], shape[b]] = [shape[b]!, shape[a]!]
    ;[strides[a], strides[b]] = [strides[b]!, strides[a]!]
  }
  return [shape, strides]
}

export function transpose(self: Tensor, dim0: number, dim1: number): Tensor {
  const [shape, strides] = transposed(self, dim0, dim1)
  return viewOf(self, shape, strides)
}

/** `select.int`: drops a dimension. */
export function select(self: Tensor, dim: number, index: number): Tensor {
  check(self.shape.length > 0, () => 'select needs at least one dimension, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const size = self.shape[d]!
  check(index >= -size && index < size, () => `index ${index} is out of range for dimension ${d} of size ${size}`)
  const at = index < 0 ? index + size : index
  const [shape, strides, offset] = [without(self.shape, d), without(self.strides, d), self.offset + at * self.strides[d]!]
  const { quant } = self
  if (quant === null || !isPerChannel(quant)) return viewOf(self, shape, strides, offset)
  // one channel of several is quantized per tensor
  if (d === quant.axis) return requantizedView(self, shape, strides, offset, { scale: quant.scales[at]!, zeroPoint: quant.zeroPoints[at]! })
  return requantizedView(self, shape, strides, offset, { ...quant, axis: d < quant.axis ? quant.axis - 1 : quant.axis })
}

/** A view with other parameters, of which a tensor quantized per channel has fewer or along another dimension. */
export function requantizedView(
  self: Tensor,
  shape: readonly number[],
  strides: readonly number[],
  offset: number,
  quant: Quant | null,
): Tensor {
  return new Tensor(self.storage, offset, shape, strides, self.type, quant)
}

/** `slice.Tensor`: bounds beyond the dimension are clamped, INT64_MAX included. */
export function slice(self: Tensor, dim = 0, start: number | null = null, end: number | null = null, step = 1): Tensor {
  check(self.shape.length > 0, () => 'slice needs at least one dimension, found a 0-d tensor')
  check(step > 0, () => `expected a slice step above 0, found ${step}`)
  const d = wrapDim(dim, self.shape.length)
  const size = self.shape[d]!
  let from = start ?? 0
  let to = end ?? size
  if (from < 0) from += size
  if (to < 0) to += size
  from = Math.min(Math.max(from, 0), size)
  to = Math.min(Math.max(to, from), size)
  const shape = self.shape.slice()
  const strides = self.strides.slice()
  shape[d] = Math.ceil((to - from) / step)
  strides[d] = strides[d]! * step
  return requantizedView(self, shape, strides, self.offset + from * self.strides[d]!, pickedChannels(self.quant, d, from, to, step))
}

/** What parameters per channel leave for every `step`th index from `from` up to `to` of dimension `dim`. */
function pickedChannels(quant: Quant | null, dim: number, from: number, to: number, step: number): Quant | null {
  if (quant === null || !isPerChannel(quant) || quant.axis !== dim) return quant
  const pick = (list: readonly number[]): number[] => list.slice(from, to).filter((_, i) => i % step === 0)
  return { ...quant, scales: pick(quant.scales), zeroPoints: pick(quant.zeroPoints) }
}

/** `narrow` without checks; `dim` and `start` are in range. */
export function narrowed(self: Tensor, dim: number, start: number, length: number): Tensor {
  const shape = self.shape.slice()
  shape[dim] = length
  const quant = pickedChannels(self.quant, dim, start, start + length, 1)
  return requantizedView(self, shape, self.strides, self.offset + start * self.strides[dim]!, quant)
}

/** `expand`: -1 keeps the size of an existing dimension; new dimensions come first. */
export function expand(self: Tensor, sizes: readonly number[]): Tensor {
  const rank = self.shape.length
  const added = sizes.length - rank
  check(added >= 0, () => `expected at least ${rank} sizes for shape [${self.shape.join(', ')}], found [${sizes.join(', ')}]`)
  const shape = new Array<number>(sizes.length)
  const strides = new Array<number>(sizes.length)
  for (let i = sizes.length - 1; i >= 0; i--) {
    const size = i >= added ? self.shape[i - added]! : 1
    const wanted = sizes[i] === -1 && i >= added ? size : sizes[i]!
    check(
      wanted >= 0 && (wanted === size || size === 1),
      () => `shape [${self.shape.join(', ')}] cannot be expanded to [${sizes.join(', ')}]`,
    )
    shape[i] = wanted
    const own = i >= added ? self.strides[i - added]! : i + 1 < sizes.length ? shape[i + 1]! * strides[i + 1]! : 1
    strides[i] = wanted === size ? own : 0
  }
  return strided(self, shape, strides)
}

/** For each dimension whether `squeeze` drops it: it has size 1 and is one of `dims`, which stands for all where it is null. */
export function dropped(self: Tensor, dims: readonly number[] | null): boolean[] {
  const rank = self.shape.length
  const only = dims === null ? null : dims.map((d) => wrapDim(d, rank))
  check(only === null || new Set(only).size === only.length, () => `expected each dimension once, found [${dims!.join(', ')}]`)
  return self.shape.map((size, d) => size === 1 && (only === null || only.includes(d)))
}

/** Sizes and strides without the dimensions of size 1, of which only those in `dims` go where it is given. */
export function squeezed(self: Tensor, dims: readonly number[] | null): [number[], number[]] {
  const gone = dropped(self, dims)
  const kept = (_: number, d: number): boolean => !gone[d]
  return [self.shape.filter(kept), self.strides.filter(kept)]
}

/** Sizes and strides with a dimension of size 1 inserted before `dim`. */
export function unsqueezed(self: Tensor, dim: number): [number[], number[], number] {
  const rank = self.shape.length
  const d = wrapDim(dim, rank + 1)
  const shape = self.shape.slice()
  const strides = self.strides.slice()
  strides.splice(d, 0, d < rank ? shape[d]! * strides[d]! : 1)
  shape.splice(d, 0, 1)
  return [shape, strides, d]
}

export function unsqueeze(self: Tensor, dim: number): Tensor {
  const [shape, strides, d] = unsqueezed(self, dim)
  const { quant } = self
  if (quant === null || !isPerChannel(quant)) return viewOf(self, shape, strides)
  return requantizedView(self, shape, strides, self.offset, { ...quant, axis: d <= quant.axis ? quant.axis + 1 : quant.axis })
}

/** Consecutive parts of these sizes along `dim`; they must add up to the dimension. */
export function splitWithSizes(self: Tensor, sizes: readonly number[], dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'split needs at least one dimension, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const total = sizes.reduce((sum, n) => sum + n, 0)
  check(
    total === self.shape[d] && sizes.every((n) => n >= 0),
    () => `expected split sizes that add up to ${self.shape[d]}, the size of dimension ${d}, found [${sizes.join(', ')}]`,
  )
  let start = 0
  return sizes.map((size) => {
    const part = narrowed(self, d, start, size)
    start += size
    return part
  })
}

/** More parts than this are refused: a list of as many tensors would take the process down. */
const MAX_PARTS = 2 ** 22

/** Throws INVALID_ARGUMENT where a tensor would come apart into more than MAX_PARTS. */
export function checkParts(count: number): void {
  check(count <= MAX_PARTS, () => `expected at most ${MAX_PARTS} parts, found ${count}; use a view of the tensor with fewer`)
}

/** Parts of `size` along `dim`; the last may be smaller. */
export function split(self: Tensor, size: number, dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'split needs at least one dimension, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const length = self.shape[d]!
  check(size > 0 || (size === 0 && length === 0), () => `expected a split size above 0, found ${size}`)
  const count = size === 0 ? 1 : Math.max(Math.ceil(length / size), 1)
  checkParts(count)
  return Array.from({ length: count }, (_, i) => narrowed(self, d, i * size, Math.min(size, length - i * size)))
}

/** At most `chunks` parts of equal size, the last one smaller where it does not come out even. */
export function chunk(self: Tensor, chunks: number, dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'chunk needs at least one dimension, found a 0-d tensor')
  check(chunks > 0, () => `expected a number of chunks above 0, found ${chunks}`)
  const d = wrapDim(dim, self.shape.length)
  const length = self.shape[d]!
  if (length === 0) checkParts(chunks)
  if (length === 0) return splitWithSizes(self, new Array<number>(chunks).fill(0), d)
  return split(self, Math.ceil(length / chunks), d)
}

/** Throws INVALID_ARGUMENT where a view of this shape would put the channels of a tensor quantized per channel elsewhere. */
export function checkChannels(self: Tensor, shape: readonly number[]): void {
  const { quant } = self
  if (quant === null || !isPerChannel(quant)) return
  const { axis } = quant
  const before = (sizes: readonly number[]): number => numelOf(sizes.slice(0, axis))
  check(
    shape[axis] === self.shape[axis] && before(shape) === before(self.shape),
    () => `a tensor of shape [${self.shape.join(', ')}] quantized along dimension ${axis} cannot be viewed as [${shape.join(', ')}]`,
  )
}

/** The view shape of `flatten`: dimensions start..end as one. Null where there is nothing to join. */
export function flattenedShape(self: Tensor, start: number, end: number): number[] | null {
  const rank = self.shape.length
  const from = wrapDim(start, rank)
  const to = wrapDim(end, rank)
  check(from <= to, () => `expected start_dim to come before end_dim, found ${start} and ${end}`)
  if (rank === 0) return [1]
  if (from === to) return null
  return [...self.shape.slice(0, from), numelOf(self.shape.slice(from, to + 1)), ...self.shape.slice(to + 1)]
}

export function narrow(self: Tensor, dim: number, start: number, length: number): Tensor {
  check(self.shape.length > 0, () => 'narrow needs at least one dimension, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const size = self.shape[d]!
  const from = start < 0 ? start + size : start
  check(
    length >= 0 && from >= 0 && from <= size - length,
    () => `start ${start} and length ${length} exceed dimension ${d} of size ${size}`,
  )
  return narrowed(self, d, from, length)
}

/** `squeeze` (dim null), `squeeze.dim` and `squeeze.dims`. A channel axis of a quantized tensor moves along. */
export function squeeze(self: Tensor, dim: number | readonly number[] | null = null): Tensor {
  const dims = typeof dim === 'number' ? [dim] : dim
  const [shape, strides] = squeezed(self, dims)
  const { quant } = self
  if (quant === null || !isPerChannel(quant)) return viewOf(self, shape, strides)
  const gone = dropped(self, dims)
  check(!gone[quant.axis], () => 'the channel axis of a quantized tensor cannot be squeezed')
  const removed = gone.slice(0, quant.axis).filter(Boolean).length
  return requantizedView(self, shape, strides, self.offset, { ...quant, axis: quant.axis - removed })
}

export function unbind(self: Tensor, dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'unbind needs at least one dimension, found a 0-d tensor')
  checkStridable(self)
  const d = wrapDim(dim, self.shape.length)
  checkParts(self.shape[d]!)
  const shape = without(self.shape, d)
  const strides = without(self.strides, d)
  return Array.from({ length: self.shape[d]! }, (_, i) => viewOf(self, shape, strides, self.offset + i * self.strides[d]!))
}

/** `movedim`: dimension source[i] goes to destination[i], the others keep their order. */
export function movedim(self: Tensor, source: readonly number[], destination: readonly number[]): Tensor {
  const rank = self.shape.length
  check(
    source.length === destination.length,
    () => `expected as many destinations as sources, found ${destination.length} and ${source.length}`,
  )
  const from = source.map((d) => wrapDim(d, rank))
  const to = destination.map((d) => wrapDim(d, rank))
  check(
    new Set(from).size === from.length && new Set(to).size === to.length,
    () => `expected each dimension once, found [${source.join(', ')}] to [${destination.join(', ')}]`,
  )
  if (rank === 0) return alias(self)
  const order = new Array<number>(rank).fill(-1)
  from.forEach((d, i) => (order[to[i]!] = d))
  const others = self.shape.map((_, d) => d).filter((d) => !from.includes(d))
  return permute(
    self,
    order.map((d) => (d < 0 ? others.shift()! : d)),
  )
}

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
