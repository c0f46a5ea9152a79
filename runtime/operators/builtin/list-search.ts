import { pace } from '../../pace.js'
import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { floatOf } from './support/scalar.js'

/*
 * Searches in lists. The plain functions serve ints, bools and strings; floats are compared as numbers, so that NaN is
 * never found; tensors must have one element each.
 */

export const findFloat = (list: Value[], el: number): number => findWhere(list, (v) => floatOf(v) === el)

/** Place of the first element of which the test holds; -1 where there is none. */
export function findWhere<T>(list: readonly T[], test: (item: T) => boolean): number {
  for (let i = 0; i < list.length; i++) {
    pace()
    if (test(list[i]!)) return i
  }
  return -1
}

/** How many there are. */
export function countWhere<T>(list: readonly T[], test: (item: T) => boolean): number {
  let count = 0
  for (const item of list) {
    pace()
    if (test(item)) count++
  }
  return count
}

/** Whether an item is this int, bool or string. */
export function isItem(el: Int | boolean | string): (item: Value) => boolean {
  if (typeof el !== 'string') return (item) => item === el
  return (item) => {
    if (typeof item !== 'string' || item.length !== el.length) return false
    pace(el.length >> 4)
    return item === el
  }
}

export function list_contains(l: Value[], item: Int | boolean | string): boolean {
  return typeof item === 'string' ? findWhere(l, isItem(item)) >= 0 : l.includes(item)
}

export function list_contains_float(l: Value[], item: number): boolean {
  return findFloat(l, item) >= 0
}

const isTrue = (v: Value): boolean => (typeof v === 'string' ? v !== '' : floatOf(v) !== 0)

/** Ints, floats, bools or strings; a NaN counts as true. */
export function list_any(self: Value[]): boolean {
  return findWhere(self, isTrue) >= 0
}

export function list_all(self: Value[]): boolean {
  return findWhere(self, (v) => !isTrue(v)) < 0
}
