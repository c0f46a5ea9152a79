import { check } from '../../error.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'

/** Sizes as operators give them. */

export function size(self: Tensor): number[] {
  return self.shape.slice()
}

export function size_int(self: Tensor, dim: number): number {
  check(self.shape.length > 0, () => 'a 0-d tensor has no dimensions to ask the size of')
  return self.shape[wrapDim(dim, self.shape.length)]!
}
