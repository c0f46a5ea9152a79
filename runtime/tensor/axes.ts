import { check } from '../error.js'
import { wrapDim } from './shape.js'
import { isPerChannel, type Tensor, viewOf } from './tensor.js'
import { alias, checkParts, checkStridable, dropped, narrowed, permute, requantizedView, squeezed, without } from './view.js'

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
