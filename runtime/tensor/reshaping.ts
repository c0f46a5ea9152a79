import { check } from '../error.js'
import { numelOf, wrapDim } from './shape.js'
import { isPerChannel, type Tensor } from './tensor.js'

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
