import type { Value } from '../../tensor/value.js'
import { findWhere } from './list-search.js'
import { floatOf } from './support/scalar.js'

const isTrue = (v: Value): boolean => (typeof v === 'string' ? v !== '' : floatOf(v) !== 0)

/** Ints, floats, bools or strings; a NaN counts as true. */
export function list_any(self: Value[]): boolean {
  return findWhere(self, isTrue) >= 0
}

export function list_all(self: Value[]): boolean {
  return findWhere(self, (v) => !isTrue(v)) < 0
}
