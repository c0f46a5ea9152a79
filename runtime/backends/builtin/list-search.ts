import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { floatOf } from './support/scalar.js'

/*
 * Searches in lists. The plain functions serve ints, bools and strings; floats are compared as numbers, so that NaN is
 * never found; tensors must have one element each.
 */

export const findFloat = (list: Value[], el: number): number => list.findIndex((v) => floatOf(v) === el)

export function list_contains(l: Value[], item: Int | boolean | string): boolean {
  return l.includes(item)
}

export function list_contains_float(l: Value[], item: number): boolean {
  return findFloat(l, item) >= 0
}
