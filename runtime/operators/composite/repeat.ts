import { check } from '../../error.js'
import { contiguousStrides } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'

/** The tensor `repeats[i]` times along dimension i; further dimensions are added in front. */
export function repeat(self: Tensor, repeats: readonly number[]): Tensor {
  const added = repeats.length - self.shape.length
  check(
    added >= 0,
    () => `expected at least ${self.shape.length} repeats for shape [${self.shape.join(', ')}], found [${repeats.join(', ')}]`,
  )
  check(
    repeats.every((n) => n >= 0),
    () => `expected repeats of at least 0, found [${repeats.join(', ')}]`,
  )
  const sizes: number[] = []
  const strides: number[] = []
  const shape = repeats.map((times, i) => {
    const size = i < added ? 1 : self.shape[i - added]!
    if (times !== 1) {
      sizes.push(times)
      strides.push(0)
    }
    if (i >= added) {
      sizes.push(size)
      strides.push(self.strides[i - added]!)
    }
    return times * size
  })
  const out = empty(shape, self.type, self.quant)
  if (out.numel > 0) copyInto(viewOf(out, sizes, contiguousStrides(sizes)), viewOf(self, sizes, strides))
  return out
}
