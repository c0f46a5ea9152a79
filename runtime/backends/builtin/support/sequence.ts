import { PtliteError } from '../../../error.js'
import type { Int } from '../../../tensor/scalar.js'

/** A list or string index in 0..length-1; negative ones count from the end. Throws MODEL_ERROR (an IndexError) outside. */
export function sequenceIndex(index: Int, length: number, what: string): number {
  const i = index < 0 ? length + Number(index) : Number(index)
  if (!(i >= 0 && i < length)) {
    throw new PtliteError('MODEL_ERROR', `IndexError: ${what} index out of range: index ${index}, length ${length}`)
  }
  return i
}

const LONGEST = 2 ** 28

/** A length that a list or string may grow to. Throws OUT_OF_MEMORY beyond 2^28. */
export function newLength(length: number): number {
  if (!(length <= LONGEST)) throw new PtliteError('OUT_OF_MEMORY', `a list or string of length ${length} is longer than ${LONGEST}`)
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
