import { PtliteError } from '../../error.js'
import { pace } from '../../pace.js'
import { grow, growBy } from '../../tensor/element-budget.js'
import type { Int } from '../../tensor/scalar.js'
import { listType, setListType, type Value } from '../../tensor/value.js'
import { newLength, sequenceIndex, sliceRange } from './support/sequence.js'

/*
 * Operators of every list, whatever its elements. Lists are passed by reference: what is written here is seen by all who
 * hold the list. An empty list keeps the element type it was made with.
 */

export function likeList(list: Value[], source: Value[]): Value[] {
  const type = list.length === 0 ? listType(source) : undefined
  if (type !== undefined) setListType(list, type)
  return list
}

export function list_len(a: Value[]): number {
  return a.length
}

/** Throws MODEL_ERROR outside the list, as do all functions here that take an index. */
export function list_getitem(list: Value[], idx: Int): Value {
  return list[sequenceIndex(idx, list.length, 'list')]!
}

export function list_append(self: Value[], el: Value): Value[] {
  grow(1)
  self.push(el)
  return self
}

export function list_add(a: Value[], b: Value[]): Value[] {
  growBy(a.length + b.length)
  return likeList(a.concat(b), a)
}

/** Puts elements `n` times behind a list. */
export function repeatInto(list: Value[], items: readonly Value[], n: Int): void {
  for (let i = 0; i < n; i++) {
    pace(items.length)
    for (const el of items) list.push(el)
  }
}

/** `n` times the elements. Throws MODEL_ERROR for a negative `n` unless the list is empty, as PyTorch does. */
export function list_mul(l: Value[], n: Int): Value[] {
  if (n < 0 && l.length > 0) throw new PtliteError('MODEL_ERROR', `ValueError: a list cannot be repeated ${n} times`)
  newLength(Number(n) * l.length)
  const out: Value[] = []
  if (l.length > 0) repeatInto(out, l, n)
  return likeList(out, l)
}

export function list_slice(l: Value[], start: Int | null, end: Int | null, step: Int): Value[] {
  const range = sliceRange(l.length, start, end, step)
  growBy(range.count)
  if (range.step === 1) return likeList(l.slice(range.start, range.start + range.count), l)
  return likeList(
    Array.from({ length: range.count }, (_, i) => l[range.start + i * range.step]!),
    l,
  )
}
