import { latin1, latin1TextOf } from '../../encoding.js'
import { check, PtliteError } from '../../error.js'
import { grow, growBy } from '../../tensor/element-budget.js'
import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { byteLength, decodeBytes, encodeBytes } from './support/bytes.js'
import { sequenceIndex, sliceRange } from './support/sequence.js'

/** Length in UTF-8 bytes. */
export function str_len(s: string): number {
  return byteLength(s)
}

/** The byte at an index. Throws MODEL_ERROR outside the string. */
export function str_getitem(s: string, index: Int): string {
  const bytes = encodeBytes(s)
  return decodeBytes(bytes[sequenceIndex(index, bytes.length, 'string')]!)
}

export function str_slice(string: string, start: Int | null, end: Int | null, step: Int): string {
  const bytes = encodeBytes(string)
  const range = sliceRange(bytes.length, start, end, step)
  if (range.step === 1) return decodeBytes(bytes.slice(range.start, range.start + range.count))
  growBy(range.count)
  const all = latin1(bytes)
  const chosen = new Uint8Array(range.count)
  for (let i = 0; i < range.count; i++) chosen[i] = all[range.start + i * range.step]!
  return decodeBytes(latin1TextOf(chosen))
}

/** The bytes of a string, each a string of its own. */
export function str_list(t: string): Value[] {
  const bytes = encodeBytes(t)
  growBy(bytes.length)
  return Array.from(bytes, decodeBytes)
}

/** The only byte of a string of length 1. */
export function ord(string: string): number {
  const bytes = encodeBytes(string)
  if (bytes.length !== 1) throw new PtliteError('MODEL_ERROR', `TypeError: ord() expects a string of one byte, found ${bytes.length}`)
  return bytes.charCodeAt(0)
}

/** The string of one byte: the lowest 8 bits of `i`, which must be in the range of Unicode. */
export function chr(i: Int): string {
  if (!(i >= 0 && i < 1114111)) throw new PtliteError('MODEL_ERROR', `ValueError: chr() arg not in range(0x110000), found ${i}`)
  return decodeBytes(String.fromCharCode(Number(i) & 0xff))
}

export function str_add(a: string, b: string): string {
  grow(a.length + b.length)
  // two halves of a character are one character when joined
  return /[\udc80-\udcff]$/.test(a) && /^[\udc80-\udcff]/.test(b) ? decodeBytes(encodeBytes(a) + encodeBytes(b)) : a + b
}

export function str_join(self: string, values: Value[]): string {
  const between = encodeBytes(self)
  // before anything is made: one string may be there many times
  let length = 0
  for (const v of values) {
    check(typeof v === 'string', () => 'join: expected a list of strings')
    length += v.length + between.length
  }
  growBy(length)
  const parts = (values as string[]).map(encodeBytes)
  return decodeBytes(parts.join(between))
}
