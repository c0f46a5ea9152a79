import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { writeTensor } from '../../tensor/data.js'
import { checkValueCount, readInts } from '../../tensor/host-values.js'
import { MemoryFormat, type TensorOptions } from '../../tensor/options.js'
import { contiguousStrides, numelOf, wrapDim } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as at from '../generated/dispatch.js'
import { contiguousCopy, copyInto, laidOutAsSuggested } from '../support/copy.js'
import { clone } from './convert.js'
import { flatten_using_ints, reshape } from './views.js'
import { distinctDims, flip } from './flip.js'
import { repeat } from './repeat.js'

/** Operators that rearrange or repeat elements into new memory. */

export function fliplr(self: Tensor): Tensor {
  check(self.shape.length >= 2, () => `fliplr expects at least two dimensions, found shape [${self.shape.join(', ')}]`)
  return flip(self, [1])
}

export function flipud(self: Tensor): Tensor {
  check(self.shape.length >= 1, () => 'flipud expects at least one dimension, found a 0-d tensor')
  return flip(self, [0])
}

/** Moves the elements along `dims` (or along the flattened tensor), those that leave at the end enter at the start. */
export function roll(self: Tensor, shifts: readonly number[], dims: readonly number[]): Tensor {
  check(shifts.length > 0, () => 'roll expects at least one shift, found none')
  if (dims.length === 0) {
    check(shifts.length === 1, () => `roll without dimensions expects one shift, found [${shifts.join(', ')}]`)
    return v.view(rollDim(flatten_using_ints(self), shifts[0]!, 0), self.shape)
  }
  check(dims.length === shifts.length, () => `expected as many dimensions as shifts, found [${dims.join(', ')}] and [${shifts.join(', ')}]`)
  return dims.reduce((out, d, i) => rollDim(out, shifts[i]!, d), self)
}

function rollDim(self: Tensor, shift: number, dim: number): Tensor {
  const out = empty(self.shape, self.type, self.quant)
  if (out.numel === 0) return out
  check(self.shape.length > 0, () => 'roll along a dimension needs at least one, found a 0-d tensor')
  const d = wrapDim(dim, self.shape.length)
  const size = self.shape[d]!
  const moved = ((shift % size) + size) % size
  copyInto(v.narrowed(out, d, 0, moved), v.narrowed(self, d, size - moved, moved))
  copyInto(v.narrowed(out, d, moved, size - moved), v.narrowed(self, d, 0, size - moved))
  return out
}

export function rot90(self: Tensor, k: number, dims: readonly number[]): Tensor {
  check(self.shape.length >= 2, () => `rot90 expects at least two dimensions, found shape [${self.shape.join(', ')}]`)
  check(dims.length === 2, () => `rot90 expects two dimensions to rotate, found [${dims.join(', ')}]`)
  const [a, b] = distinctDims(dims, self.shape.length) as [number, number]
  switch (((k % 4) + 4) % 4) {
    case 1:
      return v.transpose(flip(self, [b]), a, b)
    case 2:
      return flip(self, [a, b])
    case 3:
      return v.transpose(flip(self, [a]), a, b)
    default:
      return clone(self, MemoryFormat.contiguous)
  }
}

export function tile(self: Tensor, dims: readonly number[]): Tensor {
  const missing = Math.max(self.shape.length - dims.length, 0)
  return repeat(self, [...new Array<number>(missing).fill(1), ...dims])
}

export function repeat_interleave_self_int(self: Tensor, repeats: number, dim: number | null, _outputSize: number | null): Tensor {
  check(repeats >= 0, () => `expected repeats of at least 0, found ${repeats}`)
  const source = dim === null ? flatten_using_ints(self) : self
  check(source.shape.length > 0, () => 'repeat_interleave along a dimension needs at least one, found a 0-d tensor')
  const d = wrapDim(dim ?? 0, source.shape.length)
  const shape = source.shape.slice()
  shape.splice(d + 1, 0, repeats)
  const out = empty([...source.shape.slice(0, d), source.shape[d]! * repeats, ...source.shape.slice(d + 1)], self.type, self.quant)
  if (out.numel > 0) copyInto(v.view(out, shape), v.expand(v.unsqueeze(source, d + 1), shape))
  return out
}

/** The index of each element as often as `repeats` says. */
export function repeat_interleave_Tensor(repeats: Tensor, outputSize: number | null): Tensor {
  check(repeats.shape.length === 1, () => `expected a vector of repeats, found shape [${repeats.shape.join(', ')}]`)
  check(
    repeats.type === DType.int64 || repeats.type === DType.int32,
    () => `expected repeats of dtype int64 or int32, found ${repeats.dtype}`,
  )
  const counts = readInts(repeats)
  check(
    counts.every((times) => times >= 0),
    () => `expected repeats of at least 0, found ${counts.find((times) => times < 0)!}`,
  )
  const total = checkValueCount(counts.reduce((sum, times) => sum + times, 0))
  check(outputSize === null || outputSize === total, () => `expected repeats that add up to ${String(outputSize)}, found ${total}`)
  const indices = new BigInt64Array(total)
  let start = 0
  counts.forEach((times, i) => indices.fill(BigInt(i), start, (start += times)))
  const out = empty([total], DType.int64)
  writeTensor(out, indices)
  if (repeats.type === DType.int64) return out
  const narrow = empty(out.shape, repeats.type)
  copyInto(narrow, out)
  return narrow
}

export function repeat_interleave_self_Tensor(self: Tensor, repeats: Tensor, dim: number | null, outputSize: number | null): Tensor {
  const source = dim === null ? flatten_using_ints(self) : self
  const d = wrapDim(dim ?? 0, source.shape.length)
  const size = source.shape.length === 0 ? 1 : source.shape[d]!
  const single = repeats.shape.length === 0 || (repeats.shape.length === 1 && repeats.shape[0] === 1)
  check(
    single || (repeats.shape.length === 1 && repeats.shape[0] === size),
    () => `expected one repeat or a vector of ${size}, the size of dimension ${d}, found shape [${repeats.shape.join(', ')}]`,
  )
  const counts = single ? v.expand(reshape(repeats, [1]), [size]) : repeats
  return at.index_select(source, d, repeat_interleave_Tensor(counts, outputSize))
}

/** Blocks of channels become blocks of pixels: (C r r, H, W) to (C, H r, W r). */
export function pixel_shuffle(self: Tensor, factor: number): Tensor {
  check(self.shape.length >= 3, () => `pixel_shuffle expects at least three dimensions, found shape [${self.shape.join(', ')}]`)
  check(factor > 0, () => `expected an upscale factor above 0, found ${factor}`)
  const [c, h, w] = self.shape.slice(-3) as [number, number, number]
  const batch = self.shape.slice(0, -3)
  check(c % (factor * factor) === 0, () => `expected channels divisible by ${factor * factor}, found ${c}`)
  const blocks = reshape(self, [...batch, c / (factor * factor), factor, factor, h, w])
  const shape = [...batch, c / (factor * factor), h * factor, w * factor]
  return laidOutAsSuggested(rearranged(blocks, batch.length, [0, 3, 1, 4, 2], shape), self)
}

export function pixel_unshuffle(self: Tensor, factor: number): Tensor {
  check(self.shape.length >= 3, () => `pixel_unshuffle expects at least three dimensions, found shape [${self.shape.join(', ')}]`)
  check(factor > 0, () => `expected a downscale factor above 0, found ${factor}`)
  const [c, h, w] = self.shape.slice(-3) as [number, number, number]
  const batch = self.shape.slice(0, -3)
  check(h % factor === 0 && w % factor === 0, () => `expected a height and width divisible by ${factor}, found ${h} and ${w}`)
  // a copy of the same shape, as PyTorch has it
  if (self.numel === 0) return clone(self, null)
  const blocks = reshape(self, [...batch, c, h / factor, factor, w / factor, factor])
  const shape = [...batch, c * factor * factor, h / factor, w / factor]
  return laidOutAsSuggested(rearranged(blocks, batch.length, [0, 2, 4, 1, 3], shape), self)
}

/** Exchanges the order of channels within and between groups. */
export function channel_shuffle(self: Tensor, groups: number): Tensor {
  check(self.shape.length > 2, () => `channel_shuffle expects more than two dimensions, found shape [${self.shape.join(', ')}]`)
  const [n, c] = self.shape as [number, number]
  check(groups > 0 && c % groups === 0, () => `expected a number of groups that divides ${c} channels, found ${groups}`)
  if (self.numel === 0) return v.alias(self)
  const inner = numelOf(self.shape.slice(2))
  return laidOutAsSuggested(rearranged(reshape(self, [n, groups, c / groups, inner]), 0, [0, 2, 1, 3], self.shape), self)
}

export { channel_shuffle as native_channel_shuffle }

/** A dense copy with the last dimensions in `order` (counted after `batch` leading ones), as `shape`. */
function rearranged(self: Tensor, batch: number, order: readonly number[], shape: readonly number[]): Tensor {
  const dims = [...Array.from({ length: batch }, (_, i) => i), ...order.map((d) => d + batch)]
  const dense = contiguousCopy(v.permute(self, dims))
  return new Tensor(dense.storage, dense.offset, shape, contiguousStrides(shape), dense.type, dense.quant)
}

/** Row and column of each element of a triangle of a rows x columns matrix, in row-major order. */
function triangleIndices(
  rows: number,
  columns: number,
  from: (row: number) => number,
  to: (row: number) => number,
  options: TensorOptions,
): Tensor {
  check(rows >= 0 && columns >= 0, () => `expected sizes of at least 0, found ${rows} and ${columns}`)
  // a dimension beyond the limit would take as long to count as to fill
  const inRow = (r: number): number => Math.max(Math.min(to(r), columns) - Math.max(from(r), 0), 0)
  let count = 0
  for (let r = 0; r < checkValueCount(rows); r++) count += inRow(r)
  const values = new BigInt64Array(checkValueCount(2 * count))
  for (let r = 0, at = 0; r < rows; r++) {
    const start = Math.max(from(r), 0)
    for (let i = 0, n = inRow(r); i < n; i++, at++) {
      values[at] = BigInt(r)
      values[count + at] = BigInt(start + i)
    }
  }
  const out = empty([2, count], DType.int64)
  writeTensor(out, values)
  if ((options.dtype ?? DType.int64) === DType.int64) return out
  const converted = empty(out.shape, options.dtype!)
  copyInto(converted, out)
  return converted
}

export function tril_indices(rows: number, columns: number, offset: number, options: TensorOptions): Tensor {
  return triangleIndices(
    rows,
    columns,
    () => 0,
    (r) => r + offset + 1,
    options,
  )
}

export function triu_indices(rows: number, columns: number, offset: number, options: TensorOptions): Tensor {
  return triangleIndices(
    rows,
    columns,
    (r) => r + offset,
    () => columns,
    options,
  )
}
