import { check } from '../../error.js'
import { numelOf, sameShape, shapeText, wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'
import { reshaped } from '../support/make.js'
import { cat } from './cat.js'

/** Dimension `dim` of each tensor as [count, size / count], zeros at its end where that does not come out even. */
function chunked(one: Tensor, dim: number, count: number): Tensor {
  const missing = (count - (one.shape[dim]! % count)) % count
  const padding = new Array<number>(2 * (one.dim - dim)).fill(0)
  padding[padding.length - 1] = missing
  const whole = missing === 0 ? one : at.constant_pad_nd(one, padding, 0)
  return reshaped(whole, [
    ...one.shape.slice(0, dim),
    count,
    (numelOf(one.shape.slice(dim)) / one.shape[dim]!) * (whole.shape[dim]! / count),
  ])
}

/** Chunk i of all tensors one after the other, for each of `count` chunks along `dim`; what follows `dim` is flattened. */
export function _chunk_cat(tensors: readonly Tensor[], dim: number, count: number, out?: Tensor): Tensor {
  const [first] = tensors
  check(count >= 1, () => `_chunk_cat: expected at least one chunk, found ${count}`)
  check(first !== undefined, () => '_chunk_cat: expected at least one tensor')
  check(
    dim >= 0 || tensors.every((one) => one.dim === first.dim),
    () => `_chunk_cat: expected a dimension from 0 on for tensors of several ranks, found ${dim}`,
  )
  const along = wrapDim(dim, first.dim)
  const lead = first.shape.slice(0, along)
  for (const one of tensors) {
    check(
      one.numel > 0 && one.type === first.type && along < one.dim && sameShape(one.shape.slice(0, along), lead),
      () =>
        `_chunk_cat: expected ${first.dtype} tensors with elements whose shapes begin with ${shapeText(lead)}, found ${one.dtype} ${shapeText(one.shape)}`,
    )
  }
  return cat(
    tensors.map((one) => chunked(one, along, count)),
    along + 1,
    out,
  )
}
