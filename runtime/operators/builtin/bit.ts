export { andInt as and_int, orInt as or_int, xorInt as xor_int, shiftLeft as lshift_int, shiftRight as rshift_int } from './support/bits.js'

export function and_bool(a: boolean, b: boolean): boolean {
  return a && b
}

export function or_bool(a: boolean, b: boolean): boolean {
  return a || b
}

export function xor_bool(a: boolean, b: boolean): boolean {
  return a !== b
}

export function not_bool(self: boolean): boolean {
  return !self
}
