import { PtliteError } from '../../error.js'
import { pace } from '../../pace.js'
import { grow, growBy } from '../../tensor/element-budget.js'
import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { newLength, sequenceIndex } from './support/sequence.js'
import { likeList, list_mul, repeatInto } from './list.js'

export function list_set_item(l: Value[], idx: Int, el: Value): Value[] {
  l[sequenceIndex(idx, l.length, 'list')] = el
  return l
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

export function list_add_(self: Value[], b: Value[]): Value[] {
  list_extend(self, b)
  return self
}

export function list_mul_right(n: Int, l: Value[]): Value[] {
  return list_mul(l, n)
}

export function list_mul_(l: Value[], n: Int): Value[] {
  newLength(Number(n) * l.length)
  const once = l.slice()
  l.length = 0
  if (once.length > 0) repeatInto(l, once, n)
  return l
}

/** Numbers 0 to n - 1. */
export function rangelist(n: Int): Value[] {
  if (n < 0) throw new PtliteError('MODEL_ERROR', `ValueError: expected a length of at least 0, found ${n}`)
  return Array.from({ length: newLength(Number(n)) }, (_, i) => {
    pace()
    return i
  })
}
