import type { Value } from '../../tensor/value.js'
import { floatOf } from './support/scalar.js'

const isTrue = (v: Value): boolean => (typeof v === 'string' ? v !== '' : floatOf(v) !== 0)

/** Ints, floats, bools or strings; a NaN counts as true. */
export function list_any(self: Value[]): boolean {
  return self.some(isTrue)
}

export function list_all(self: Value[]): boolean {
  return self.every(isTrue)
}
