import { check } from '../../error.js'
import { writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { promoteAny } from '../../tensor/promote.js'
import { numelOf, wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as axes from '../../tensor/view.js'
import { checkValueCount, readInts } from '../../tensor/host-values.js'
import { contiguousOf, copyInto } from '../support/copy.js'
import * as at from '../generated/dispatch.js'
import { fillScalar } from '../support/fill.js'
import { cat } from './cat.js'
import { reshape } from './views.js'
import { atleast_1d, atleast_2d, atleast_3d } from './atleast.js'

/** Operators that take tensors apart and put them together; the parts of a split are views. */

export { cat, cat as concat, cat as concatenate, stack, stack as _stack } from './cat.js'
export { _chunk_cat } from './chunk-cat.js'
export {
  chunk,
  chunk as unsafe_chunk,
  split as split_Tensor,
  split as unsafe_split_Tensor,
  splitWithSizes as split_with_sizes,
  splitWithSizes as split_sizes,
  splitWithSizes as split,
  splitWithSizes as unsafe_split_with_sizes,
} from '../../tensor/view.js'
export { unbind as unbind_int } from '../../tensor/view.js'

export function hstack(tensors: Tensor[], out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'hstack expects at least one tensor, found none')
  const rows = tensors.map(atleast_1d)
  return cat(rows, rows[0]!.shape.length === 1 ? 0 : 1, out)
}

export function vstack(tensors: Tensor[], out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'vstack expects at least one tensor, found none')
  return cat(tensors.map(atleast_2d), 0, out)
}

export { vstack as row_stack }

export function dstack(tensors: Tensor[], out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'dstack expects at least one tensor, found none')
  return cat(tensors.map(atleast_3d), 2, out)
}

export function column_stack(tensors: Tensor[], out?: Tensor): Tensor {
  check(tensors.length > 0, () => 'column_stack expects at least one tensor, found none')
  return hstack(
    tensors.map((one) => (one.shape.length <= 1 ? reshape(one, [one.numel, 1]) : one)),
    out,
  )
}

/** Matrices along the diagonal of a zero matrix; vectors count as rows. */
export function block_diag(tensors: Tensor[]): Tensor {
  check(tensors.length > 0, () => 'block_diag expects at least one tensor, found none')
  const blocks = tensors.map((one) => {
    check(one.shape.length <= 2, () => `block_diag expects at most two dimensions, found shape [${one.shape.join(', ')}]`)
    return atleast_2d(one)
  })
  const total = (d: number): number => blocks.reduce((sum, one) => sum + one.shape[d]!, 0)
  const out = empty([total(0), total(1)], promoteAny(tensors))
  fillScalar(out, 0)
  let row = 0
  let column = 0
  for (const one of blocks) {
    const [rows, columns] = [one.shape[0]!, one.shape[1]!]
    copyInto(v.narrowed(v.narrowed(out, 0, row, rows), 1, column, columns), one)
    row += rows
    column += columns
  }
  return out
}

/** Parts that end before each index, and the rest; an index past the end gives an empty part. */
export function tensor_split_indices(self: Tensor, indices: number[], dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'tensor_split needs at least one dimension, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const bounds = [0, ...indices, self.shape[d]!]
  return bounds.slice(1).map((end, i) => v.slice(self, d, bounds[i], i === indices.length ? null : end))
}

/** Parts of equal size, the first ones longer by one where it does not come out even. */
export function tensor_split_sections(self: Tensor, sections: number, dim: number): Tensor[] {
  check(self.shape.length > 0, () => 'tensor_split needs at least one dimension, found a 0-d tensor')
  check(sections > 0, () => `expected a number of sections above 0, found ${sections}`)
  v.checkParts(sections)
  const d = wrapDim(dim, self.shape.length)
  const size = Math.floor(self.shape[d]! / sections)
  const longer = self.shape[d]! % sections
  return v.splitWithSizes(
    self,
    Array.from({ length: sections }, (_, i) => size + (i < longer ? 1 : 0)),
    d,
  )
}

export function tensor_split_tensor_indices_or_sections(self: Tensor, which: Tensor, dim: number): Tensor[] {
  check(
    which.dtype === 'int64' && which.shape.length <= 1,
    () => `expected sections or indices as an int64 tensor of at most one dimension, found ${which.dtype} of ${which.shape.length}`,
  )
  const values = readInts(which)
  return which.shape.length === 0 ? tensor_split_sections(self, values[0]!, dim) : tensor_split_indices(self, values, dim)
}

/** hsplit, vsplit and dsplit: the dimension to split, checked. */
function splitDim(self: Tensor, name: string, least: number, dim: number, sections?: number): number {
  check(self.shape.length >= least, () => `${name} expects at least ${least} dimensions, found shape [${self.shape.join(', ')}]`)
  check(
    sections === undefined || (sections > 0 && self.shape[dim]! % sections === 0),
    () => `${name} expects sections that divide dimension ${dim} of size ${self.shape[dim]!}, found ${String(sections)}`,
  )
  return dim
}

export function hsplit_int(self: Tensor, sections: number): Tensor[] {
  return tensor_split_sections(self, sections, splitDim(self, 'hsplit', 1, self.shape.length === 1 ? 0 : 1, sections))
}

export function hsplit_array(self: Tensor, indices: number[]): Tensor[] {
  return tensor_split_indices(self, indices, splitDim(self, 'hsplit', 1, self.shape.length === 1 ? 0 : 1))
}

export function vsplit_int(self: Tensor, sections: number): Tensor[] {
  return tensor_split_sections(self, sections, splitDim(self, 'vsplit', 2, 0, sections))
}

export function vsplit_array(self: Tensor, indices: number[]): Tensor[] {
  return tensor_split_indices(self, indices, splitDim(self, 'vsplit', 2, 0))
}

export function dsplit_int(self: Tensor, sections: number): Tensor[] {
  return tensor_split_sections(self, sections, splitDim(self, 'dsplit', 3, 2, sections))
}

export function dsplit_array(self: Tensor, indices: number[]): Tensor[] {
  return tensor_split_indices(self, indices, splitDim(self, 'dsplit', 3, 2))
}

export function meshgrid(tensors: Tensor[]): Tensor[] {
  return meshgrid_indexing(tensors, 'ij')
}

export function meshgrid_indexing(tensors: Tensor[], indexing: string): Tensor[] {
  check(tensors.length > 0, () => 'meshgrid expects at least one tensor, found none')
  check(indexing === 'ij' || indexing === 'xy', () => `expected indexing 'ij' or 'xy', found '${indexing}'`)
  for (const one of tensors) {
    check(one.shape.length <= 1, () => `meshgrid expects vectors or scalars, found shape [${one.shape.join(', ')}]`)
    check(one.type === tensors[0]!.type, () => `meshgrid expects one dtype, found ${tensors[0]!.dtype} and ${one.dtype}`)
  }
  const swap = indexing === 'xy' && tensors.length > 1
  const axes = swap ? [tensors[1]!, tensors[0]!, ...tensors.slice(2)] : tensors
  const shape = axes.map((one) => one.numel)
  const grids = axes.map((one, d) =>
    v.expand(
      reshape(
        one,
        shape.map((n, i) => (i === d ? n : 1)),
      ),
      shape,
    ),
  )
  return swap ? [grids[1]!, grids[0]!, ...grids.slice(2)] : grids
}

export function cartesian_prod(tensors: Tensor[]): Tensor {
  for (const one of tensors) check(one.shape.length === 1, () => `cartesian_prod expects vectors, found shape [${one.shape.join(', ')}]`)
  if (tensors.length === 1) return tensors[0]!
  const columns = meshgrid(tensors)
  const out = empty([...columns[0]!.shape, tensors.length], tensors[0]!.type)
  columns.forEach((one, i) => copyInto(v.select(out, -1, i), one))
  return v.view(out, [-1, tensors.length])
}

/** Choices of k of n; Infinity where that is beyond a double. */
function binomial(n: number, k: number): number {
  let result = n < k ? 0 : 1
  for (let i = 1; i <= Math.min(k, n - k) && result < Infinity; i++) result = (result * (n - i + 1)) / i
  return result
}

/** Every choice of `r` elements in index order, as rows. Throws OUT_OF_MEMORY where they are too many. */
export function combinations(self: Tensor, r: number, withReplacement: boolean): Tensor {
  check(self.shape.length === 1, () => `combinations expects a vector, found shape [${self.shape.join(', ')}]`)
  check(r >= 0, () => `expected a length of at least 0, found ${r}`)
  if (r === 0) return empty([0], self.type)
  const n = self.shape[0]!
  const count = binomial(withReplacement ? n + r - 1 : n, r)
  const values = checkValueCount(count * r)
  if (values === 0) return empty([0, r], self.type)
  // int64, the lower words
  const chosen = new Int32Array(2 * values)
  const row = Array.from({ length: r }, (_, i) => (withReplacement ? 0 : i))
  const last = (i: number): number => (withReplacement ? n - 1 : n - r + i)
  for (let from = 0; from < values; from += r) {
    for (let i = 0; i < r; i++) chosen[2 * (from + i)] = row[i]!
    let grows = r - 1
    while (grows > 0 && row[grows] === last(grows)) grows--
    row[grows]!++
    for (let i = grows + 1; i < r; i++) row[i] = withReplacement ? row[grows]! : row[i - 1]! + 1
  }
  const index = empty([values], DType.int64)
  writeTensor(index, new BigInt64Array(chosen.buffer))
  return v.view(at.index_select(self, 0, index), [count, r])
}

/** Sequences of different length as one tensor, filled up with `paddingValue` at the end. */
export function pad_sequence(sequences: Tensor[], batchFirst: boolean, paddingValue: number, paddingSide: string): Tensor {
  check(paddingSide === 'left' || paddingSide === 'right', () => `expected padding_side left or right, found '${paddingSide}'`)
  check(sequences.length > 0, () => 'pad_sequence expects at least one sequence, found none')
  const first = sequences[0]!
  for (const one of sequences) {
    check(
      one.shape.length > 0 && one.shape.slice(1).join() === first.shape.slice(1).join(),
      () =>
        `expected sequences that differ in their first size alone, found shapes [${first.shape.join(', ')}] and [${one.shape.join(', ')}]`,
    )
  }
  const length = Math.max(...sequences.map((one) => one.shape[0]!))
  const leading = batchFirst ? [sequences.length, length] : [length, sequences.length]
  const out = empty([...leading, ...first.shape.slice(1)], first.type)
  fillScalar(out, paddingValue)
  sequences.forEach((one, i) => {
    const steps = one.shape[0]!
    copyInto(axes.narrow(v.select(out, batchFirst ? 0 : 1, i), 0, paddingSide === 'left' ? length - steps : 0, steps), one)
  })
  return out
}

export function flatten_dense_tensors(tensors: Tensor[]): Tensor {
  return cat(
    tensors.map((one) => v.view(contiguousOf(one), [-1])),
    0,
  )
}

export function unflatten_dense_tensors(flat: Tensor, tensors: Tensor[]): Tensor[] {
  let start = 0
  return tensors.map((one) => {
    const size = numelOf(one.shape)
    const part = v.view(axes.narrow(flat, 0, start, size), one.shape)
    start += size
    return part
  })
}
