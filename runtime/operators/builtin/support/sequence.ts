import { PtliteError } from '../../../error.js'
import { growBy } from '../../../tensor/element-budget.js'
import type { Int } from '../../../tensor/scalar.js'

/** A list or string index in 0..length-1; negative ones count from the end. Throws MODEL_ERROR (an IndexError) outside. */
export function sequenceIndex(index: Int, length: number, what: string): number {
  const i = index < 0 ? length + Number(index) : Number(index)
  if (!(i >= 0 && i < length)) {
    throw new PtliteError('MODEL_ERROR', `IndexError: ${what} index out of range: index ${index}, length ${length}`)
  }
  return i
}

/** The length of a list or string that is about to be made. Throws LIMIT_EXCEEDED where it is too much for the call. */
export function newLength(length: number): number {
  if (!(length <= 0)) growBy(length)
  return length
}

export interface SliceRange {
  readonly start: number
  readonly step: number
  /** Elements in the slice. */
  readonly count: number
}

// what PyTorch puts where a bound is left out: as a start, too, it means the first element
const NO_BOUND = 2n ** 63n - 1n

/** Python's slice of a sequence of this length; null bounds are the ends that the step's sign asks for. Throws for a zero step. */
export function sliceRange(length: number, start: Int | null, end: Int | null, step: Int): SliceRange {
  if (start === NO_BOUND) start = null
  if (end === NO_BOUND) end = null
  const by = Number(step)
  if (by === 0) throw new PtliteError('MODEL_ERROR', 'ValueError: slice step cannot be zero')
  const lowest = by < 0 ? -1 : 0
  const highest = by < 0 ? length - 1 : length
  const bound = (value: Int): number => {
    const n = Number(value)
    return n < 0 ? Math.max(n + length, lowest) : Math.min(n, highest)
  }
  const from = start === null ? (by < 0 ? highest : lowest) : bound(start)
  const to = end === null ? (by < 0 ? lowest : highest) : bound(end)
  const count = by < 0 ? Math.ceil((from - to) / -by) : Math.ceil((to - from) / by)
  return { start: from, step: by, count: Math.max(count, 0) }
}
