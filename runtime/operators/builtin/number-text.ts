import type { Int } from '../../tensor/scalar.js'
import { parseDouble, parseInt64 } from './support/parse-number.js'

export function int_of_str(a: string): Int {
  return parseInt64(a)
}

export function float_of_str(a: string): number {
  return parseDouble(a)
}

function digits(i: Int, prefix: string, radix: number): string {
  const value = BigInt(i)
  return `${value < 0n ? '-' : ''}0${prefix}${(value < 0n ? -value : value).toString(radix)}`
}

export function hex(i: Int): string {
  return digits(i, 'x', 16)
}

export function oct(i: Int): string {
  return digits(i, 'o', 8)
}

export function bin(i: Int): string {
  return digits(i, 'b', 2)
}
