import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOut, writeOutExact } from '../support/write-out.js'
import type { CPU } from '../support/generated/interfaces.js'
import { selectLines, sortLines } from './support/select.js'

export function numeric(self: Tensor, operator: string): void {
  if (self.type === DType.bool) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a numeric dtype, found bool`)
}

/** torch.sort with positions, NaN as the largest. Unless `stable`, equal elements come in any order. */
export const sort_stable: CPU['sort_stable'] = (self, stable, dim, descending, outValues, outIndices) => {
  const { values, indices } = sortLines(self, wrapDim(dim, self.dim), { descending, withValues: true, stable: stable ?? false })
  return [writeOutExact(values!, outValues, 'sort'), writeOutExact(indices, outIndices, 'sort')]
}

export function sort(self: Tensor, dim: number, descending: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return sort_stable(self, false, dim, descending, outValues, outIndices)
}

/** torch.argsort: the positions alone. */
export function argsort_stable(self: Tensor, stable: boolean, dim: number, descending: boolean, out?: Tensor): Tensor {
  return writeOut(sortLines(self, wrapDim(dim, self.dim), { descending, stable }).indices, out)
}

export function argsort(self: Tensor, dim: number, descending: boolean): Tensor {
  return argsort_stable(self, false, dim, descending)
}

/** torch.msort: sorted along the first dim. */
export function msort(self: Tensor, out?: Tensor): Tensor {
  return writeOut(sortLines(self, 0, { withValues: true }).values!, out)
}

/** torch.topk: the k largest or smallest elements along `dim`, in order where `sorted`. */
export const topk: CPU['topk'] = (self, k, dim, largest, sorted, outValues, outIndices) => {
  numeric(self, 'topk')
  const along = wrapDim(dim, self.dim)
  const length = self.dim === 0 ? 1 : self.shape[along]!
  check(k >= 0 && k <= length, () => `topk: expected k from 0 to ${length}, found ${k}`)
  const op = largest ? 'topk_largest' : 'topk_smallest'
  const [values, indices] = selectLines(op, self, along, { k: self.dim === 0 ? 1 : k, results: k, keepdim: true, sorted })
  return [writeOutExact(values, outValues, 'topk'), writeOutExact(indices, outIndices, 'topk')]
}
