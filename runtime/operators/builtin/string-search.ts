import { PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { encodeBytes } from './support/bytes.js'
import { firstOf, lastOf } from './support/search.js'

/** A start of a search: negative ones count from the end. */
export function startOf(start: Int, length: number): number {
  return start < 0 ? Math.max(0, length + Number(start)) : Number(start)
}

/** An end of a search: -1 is the end of the string, so negative ones count from one past it. */
export function endOf(end: Int, length: number): number {
  return end < 0 ? Math.max(0, length + Number(end) + 1) : Number(end)
}

export function search(self: string, substr: string, start: Int, end: Int, fromRight: boolean): number {
  const bytes = encodeBytes(self)
  const wanted = encodeBytes(substr)
  const from = startOf(start, bytes.length)
  const to = endOf(end, bytes.length)
  if (to > from && from > bytes.length) throw outside(from, bytes.length)
  const range = to > from ? bytes.slice(from, to) : ''
  const at = fromRight ? lastOf(range, wanted) : firstOf(range, wanted)
  return at < 0 ? -1 : at + from
}

export function outside(start: number, length: number): PtliteError {
  return new PtliteError('MODEL_ERROR', `IndexError: search starts at ${start} in a string of length ${length}`)
}

/** Position of the first occurrence in bytes start to end, or -1. */
export function find(self: string, substr: string, start: Int, end: Int): number {
  return search(self, substr, start, end, false)
}
