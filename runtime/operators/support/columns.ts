import { contiguousStrides } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { laidOut } from './copy.js'

/** Strides of matrices that lie column by column, as LAPACK has them. */
export function columnStrides(shape: readonly number[]): number[] {
  const strides = contiguousStrides(shape)
  const rank = shape.length
  strides[rank - 1] = Math.max(shape[rank - 2]!, 1)
  strides[rank - 2] = 1
  return strides
}

/** `t`, matrices that nobody else has yet, column by column in memory. */
export function byColumns(t: Tensor): Tensor {
  return laidOut(t, columnStrides(t.shape))
}
