import { check, PtliteError } from '../../error.js'
import { arrayTypeOf, readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { readInts } from '../../tensor/host-values.js'
import { scalarToNumber } from '../../tensor/scalar.js'
import { numelOf, sameShape, wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { checkReal, computeType, dense } from '../support/real.js'
import type { CPU } from '../support/generated/interfaces.js'

interface Fold {
  /** What a segment without elements gives. */
  readonly start: number
  readonly step: (folded: number, x: number) => number
}

const add = (sum: number, x: number): number => sum + x
const FOLDS: Readonly<Record<string, Fold | undefined>> = {
  max: { start: -Infinity, step: (most, x) => Math.max(most, x) },
  min: { start: Infinity, step: (least, x) => Math.min(least, x) },
  sum: { start: 0, step: add },
  mean: { start: 0, step: add },
  prod: { start: 1, step: (product, x) => product * x },
}

const OPERATOR = 'segment_reduce'

function checkBounds(bounds: Tensor, axis: number, data: Tensor): void {
  if (bounds.type !== DType.int32 && bounds.type !== DType.int64) {
    throw new PtliteError('INVALID_DTYPE', `${OPERATOR}: expected int32 or int64 lengths or offsets, found ${bounds.dtype}`)
  }
  check(
    axis === bounds.dim - 1 && sameShape(bounds.shape.slice(0, axis), data.shape.slice(0, axis)),
    () =>
      `${OPERATOR}: lengths or offsets of shape [${bounds.shape.join(', ')}] do not divide axis ${axis} of shape [${data.shape.join(', ')}]`,
  )
}

/** Where each segment starts in its row, and where the last one ends. */
function startsOf(lengths: readonly number[]): number[] {
  const starts = [0]
  for (const length of lengths) starts.push(starts[starts.length - 1]! + length)
  return starts
}

/** Bounds per row of the leading dimensions; they never leave the axis, `unsafe` or not. */
function rowsOf(bounds: Tensor, rows: number, size: number, areLengths: boolean, unsafe: boolean): number[][] {
  const values = readInts(bounds)
  const width = bounds.shape[bounds.dim - 1]!
  return Array.from({ length: rows }, (_, r) => {
    const row = values.slice(r * width, (r + 1) * width)
    const starts = areLengths ? startsOf(row) : row
    check(
      starts.every((at, i) => at >= 0 && at <= size && (i === 0 || at >= starts[i - 1]!)),
      () => `${OPERATOR}: expected segments within ${size} elements, found [${row.join(', ')}]`,
    )
    check(
      !areLengths || unsafe || starts[width] === size,
      () => `${OPERATOR}: expected lengths that sum up to ${size}, found [${row.join(', ')}]`,
    )
    return starts
  })
}

/**
 * max, min, mean, sum or prod of segments along `axis` (torch.segment_reduce), given by their lengths [..., segments] or by offsets
 * [..., segments + 1]. Segments start from `initial`; without it empty ones give -inf, inf, nan, 0 and 1.
 */
export const segment_reduce: CPU['segment_reduce'] = (data, reduce, lengths, indices, offsets, axis, unsafe, initial) => {
  checkReal(OPERATOR, data.type)
  const fold = Object.hasOwn(FOLDS, reduce) ? FOLDS[reduce] : undefined
  check(fold !== undefined, () => `${OPERATOR}: expected reduction max, min, mean, sum or prod, found '${reduce}'`)
  check(indices === null, () => `${OPERATOR}: segments are given by lengths or offsets; indices are not supported`)
  const bounds = offsets ?? lengths
  check(bounds !== null, () => `${OPERATOR}: expected lengths or offsets`)
  check(data.numel > 0, () => `${OPERATOR}: expected data with elements, found shape [${data.shape.join(', ')}]`)
  const at = wrapDim(axis, data.dim)
  checkBounds(bounds!, at, data)
  const segments = bounds!.shape[at]! - (offsets === null ? 0 : 1)
  check(segments >= 0, () => `${OPERATOR}: expected at least one offset`)
  const lead = data.shape.slice(0, at)
  const size = data.shape[at]!
  const inner = numelOf(data.shape.slice(at + 1))
  const rows = rowsOf(bounds!, numelOf(lead), size, offsets === null, unsafe)

  const type = computeType(data.type)
  const from = readTensor(dense(data, type)) as Float32Array | Float64Array
  const result = empty([...lead, segments, ...data.shape.slice(at + 1)], type)
  const to = new (arrayTypeOf(type))(result.numel) as Float32Array | Float64Array
  const start = initial === null ? fold!.start : scalarToNumber(initial)
  const isMean = reduce === 'mean'
  rows.forEach((starts, r) => {
    for (let s = 0; s < segments; s++) {
      const [first, end] = [starts[s]!, starts[s + 1]!]
      for (let i = 0; i < inner; i++) {
        let folded = start
        for (let k = first; k < end; k++) folded = fold!.step(folded, from[(r * size + k) * inner + i]!)
        if (isMean && (end > first || initial === null)) folded /= end - first
        to[(r * segments + s) * inner + i] = folded
      }
    }
  })
  writeTensor(result, to)
  return castTo(result, data.type)
}
