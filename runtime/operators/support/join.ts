import * as kernels from '../../native/generated/kernels.js'
import type { Tensor } from '../../tensor/tensor.js'
import { Limit } from '../../native/generated/numbers.js'

/** A dense tensor whose rows of `length` elements go to `start` in each row of the result. */
export interface Joined {
  readonly from: Tensor
  readonly start: number
  readonly length: number
}

/** Fills parts of the `outer` rows (of `row` elements) of the dense tensor `out`, all dtypes being equal. */
export function joinRows(out: Tensor, outer: number, row: number, parts: readonly Joined[]): void {
  const bytes = out.itemSize
  for (let first = 0; first < parts.length; first += Limit.JOINED_INPUTS) {
    const group = parts.length <= Limit.JOINED_INPUTS ? parts : parts.slice(first, first + Limit.JOINED_INPUTS)
    kernels.join_rows({
      count: group.length,
      outer,
      row: row * bytes,
      out: out.address,
      in: group.map((part) => part.from.address),
      start: group.map((part) => part.start * bytes),
      length: group.map((part) => part.length * bytes),
    })
  }
}
