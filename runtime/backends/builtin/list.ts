import { PtliteError } from '../../error.js'
import { grow, growBy } from '../../tensor/growth.js'
import type { Int } from '../../tensor/scalar.js'
import { listType, setListType, type Value } from '../../tensor/value.js'
import { newLength, sequenceIndex, sliceRange } from './support/sequence.js'

/*
 * Operators of every list, whatever its elements. Lists are passed by reference: what is written here is seen by all who
 * hold the list. An empty list keeps the element type it was made with.
 */

function likeList(list: Value[], source: Value[]): Value[] {
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

export function list_set_item(l: Value[], idx: Int, el: Value): Value[] {
  l[sequenceIndex(idx, l.length, 'list')] = el
  return l
}

export function list_append(self: Value[], el: Value): Value[] {
  grow(1)
  self.push(el)
  return self
}

export function list_extend(self: Value[], other: Value[]): void {
  const count = other.length // a list may be appended to itself
  grow(count)
  for (let i = 0; i < count; i++) self.push(other[i]!)
}

/** Before the element at `idx`; indices beyond the ends are the ends. */
export function list_insert(self: Value[], idx: Int, el: Value): void {
  grow(1)
  self.splice(Number(idx), 0, el)
}

/** Takes the element at `idx` out. */
export function list_pop(self: Value[], idx: Int): Value {
  if (self.length === 0) throw new PtliteError('MODEL_ERROR', 'IndexError: pop from empty list')
  return self.splice(sequenceIndex(idx, self.length, 'list'), 1)[0]!
}

export function list_delete(self: Value[], idx: Int): void {
  list_pop(self, idx)
}

export function list_clear(self: Value[]): void {
  self.length = 0
}

export function list_reverse(self: Value[]): void {
  self.reverse()
}

/** A new list with the same elements. */
export function list_copy(self: Value[]): Value[] {
  growBy(self.length)
  return likeList(self.slice(), self)
}

export function list_add(a: Value[], b: Value[]): Value[] {
  growBy(a.length + b.length)
  return likeList(a.concat(b), a)
}

export function list_add_(self: Value[], b: Value[]): Value[] {
  list_extend(self, b)
  return self
}

/** `n` times the elements. Throws MODEL_ERROR for a negative `n` unless the list is empty, as PyTorch does. */
export function list_mul(l: Value[], n: Int): Value[] {
  if (n < 0 && l.length > 0) throw new PtliteError('MODEL_ERROR', `ValueError: a list cannot be repeated ${n} times`)
  newLength(Number(n) * l.length)
  const out: Value[] = []
  if (l.length > 0) for (let i = 0; i < n; i++) for (const el of l) out.push(el)
  return likeList(out, l)
}

export function list_mul_right(n: Int, l: Value[]): Value[] {
  return list_mul(l, n)
}

export function list_mul_(l: Value[], n: Int): Value[] {
  newLength(Number(n) * l.length)
  const once = l.slice()
  l.length = 0
  if (once.length > 0) for (let i = 0; i < n; i++) for (const el of once) l.push(el)
  return l
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

/** Numbers 0 to n - 1. */
export function rangelist(n: Int): Value[] {
  if (n < 0) throw new PtliteError('MODEL_ERROR', `ValueError: expected a length of at least 0, found ${n}`)
  return Array.from({ length: newLength(Number(n)) }, (_, i) => i)
}
