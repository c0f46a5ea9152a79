import { check } from '../../error.js'
import { readInts, tensorOfInts } from '../../tensor/host-values.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import type { Composite } from '../support/generated/interfaces.js'

/** Runs of time steps with the same number of rows, as [first step, steps, rows]. */
function runsOf(sizes: readonly number[]): [number, number, number][] {
  const runs: [number, number, number][] = []
  sizes.forEach((rows, t) => {
    const last = runs.at(-1)
    if (last !== undefined && last[2] === rows) last[1]++
    else runs.push([t, 1, rows])
  })
  return runs
}

/** Sequences by falling length, padded, as rows ordered by time step: the rows, and how many each step has. */
export function _pack_padded_sequence(input: Tensor, lengths: Tensor, batchFirst: boolean): [Tensor, Tensor] {
  const x = batchFirst ? v.transpose(input, 0, 1) : input
  check(x.shape.length >= 2, () => `expected padded sequences of at least two dimensions, found shape [${input.shape.join(', ')}]`)
  check(x.numel > 0, () => 'expected sequences with elements, found none')
  check(
    lengths.dtype === 'int64' && lengths.shape.length === 1,
    () => `expected lengths as an int64 vector, found ${lengths.dtype} of shape [${lengths.shape.join(', ')}]`,
  )
  const list = readInts(lengths)
  const batch = x.shape[1]!
  check(list.length === batch, () => `expected a length for each of ${batch} sequences, found ${list.length}`)
  check(
    list.every((n, i) => n > 0 && (i === 0 || n <= list[i - 1]!)),
    () => `expected lengths above 0 that fall, found [${list.join(', ')}]`,
  )
  check(list[0]! <= x.shape[0]!, () => `expected lengths of at most ${x.shape[0]!}, found ${list[0]!}`)
  const sizes = Array.from({ length: list[0]! }, (_, t) => list.filter((n) => n > t).length)
  const rest = x.shape.slice(2)
  const data = empty([list.reduce((sum, n) => sum + n, 0), ...rest], x.type)
  let row = 0
  for (const [start, steps, rows] of runsOf(sizes)) {
    const part = v.narrowed(v.narrowed(x, 0, start, steps), 1, 0, rows)
    copyInto(v.view(v.narrowed(data, 0, row, steps * rows), part.shape), part)
    row += steps * rows
  }
  return [data, tensorOfInts(sizes)]
}

/** The way back: sequences filled up with `paddingValue` to `totalLength` (0 or less: the longest), and their lengths. */
export const _pad_packed_sequence: Composite['_pad_packed_sequence'] = (data, batchSizes, batchFirst, paddingValue, totalLength) => {
  check(
    batchSizes.dtype === 'int64' && batchSizes.shape.length === 1,
    () => `expected batch sizes as an int64 vector, found ${batchSizes.dtype} of shape [${batchSizes.shape.join(', ')}]`,
  )
  const sizes = readInts(batchSizes)
  check(sizes.length > 0, () => 'expected at least one batch size, found none')
  const longest = sizes.length
  check(totalLength <= 0 || totalLength >= longest, () => `expected a total length of at least ${longest}, found ${totalLength}`)
  const steps = totalLength > 0 ? totalLength : longest
  const batch = sizes[0]!
  const rest = data.shape.slice(1)
  check(
    sizes.reduce((sum, n) => sum + n, 0) === data.shape[0],
    () => `expected batch sizes that add up to ${data.shape[0]!}, found [${sizes.join(', ')}]`,
  )
  const out = empty([steps, batch, ...rest], data.type)
  fillScalar(out, paddingValue)
  let row = 0
  for (const [start, count, rows] of runsOf(sizes)) {
    const part = v.narrowed(v.narrowed(out, 0, start, count), 1, 0, rows)
    copyInto(part, v.view(v.narrowed(data, 0, row, count * rows), part.shape))
    row += count * rows
  }
  const lengths = tensorOfInts(Array.from({ length: batch }, (_, i) => sizes.filter((n) => n > i).length))
  return [batchFirst ? v.transpose(out, 0, 1) : out, lengths]
}
