import type { Tensor } from '../../tensor/tensor.js'
import { writeOut } from './write-out.js'
import { reduce } from './reduce.js'

/** at::Reduction numbers. */
export const Reduction = { none: 0, mean: 1, sum: 2 } as const

/** The losses themselves, their mean or their sum. */
export function reduceLoss(each: Tensor, reduction: number, out?: Tensor): Tensor {
  if (reduction !== Reduction.mean && reduction !== Reduction.sum) return writeOut(each, out)
  return writeOut(reduce(reduction === Reduction.mean ? 'mean' : 'sum', each, null, false, each.type), out)
}
