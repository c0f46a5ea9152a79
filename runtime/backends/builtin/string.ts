import { check, PtliteError } from '../../error.js'
import { grow, growBy } from '../../tensor/growth.js'
import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import {
  byteLength,
  decodeBytes,
  encodeBytes,
  everyByte,
  isAlnum,
  isAlpha,
  isDigit,
  isLower,
  isPunct,
  isSpace,
  isUpper,
  mapBytes,
  toLower,
  toUpper,
} from './support/bytes.js'
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
  let out = ''
  for (let i = 0; i < range.count; i++) out += bytes[range.start + i * range.step]!
  return decodeBytes(out)
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
  const parts = values.map((v) => {
    check(typeof v === 'string', () => 'join: expected a list of strings')
    return encodeBytes(v)
  })
  const between = encodeBytes(self)
  // before it is made, since the engine makes no string of any length
  growBy(parts.reduce((sum, part) => sum + part.length + between.length, 0))
  return decodeBytes(parts.join(between))
}

export function upper(self: string): string {
  return mapBytes(self, toUpper)
}

export function lower(self: string): string {
  return mapBytes(self, toLower)
}

export function swapcase(self: string): string {
  return mapBytes(self, (byte) => (isLower(byte) ? toUpper(byte) : toLower(byte)))
}

export function capitalize(self: string): string {
  return mapBytes(self, (byte, index) => (index === 0 ? toUpper(byte) : toLower(byte)))
}

/** Letters after anything but a letter in upper case, the others in lower case. */
export function title(self: string): string {
  let afterLetter = false
  return mapBytes(self, (byte) => {
    const mapped = afterLetter ? toLower(byte) : toUpper(byte)
    afterLetter = isAlpha(byte)
    return mapped
  })
}

export function isdigit(self: string): boolean {
  return self !== '' && everyByte(self, isDigit)
}

export function isspace(self: string): boolean {
  return self !== '' && everyByte(self, isSpace)
}

export function isalnum(self: string): boolean {
  return self !== '' && everyByte(self, isAlnum)
}

export function isalpha(self: string): boolean {
  return self !== '' && everyByte(self, isAlpha)
}

/** True for the empty string too. */
export function isprintable(self: string): boolean {
  return everyByte(self, (byte) => isAlnum(byte) || isPunct(byte) || byte === 0x20)
}

/** Letters and digits only, the first no digit: TorchScript does not take underscores. */
export function isidentifier(self: string): boolean {
  return self !== '' && !isDigit(self.charCodeAt(0)) && everyByte(self, isAlnum)
}

/** At least one letter, and no letter of lower case. */
export function isupper(self: string): boolean {
  return /[A-Z]/.test(self) && everyByte(self, (byte) => !isAlpha(byte) || isUpper(byte))
}

/** At least one letter, and no letter of upper case. */
export function islower(self: string): boolean {
  return /[a-z]/.test(self) && everyByte(self, (byte) => !isAlpha(byte) || isLower(byte))
}

export function istitle(self: string): boolean {
  let afterLetter = false
  const fits = everyByte(self, (byte) => {
    const ok = afterLetter ? !isUpper(byte) : !isLower(byte)
    afterLetter = isAlpha(byte)
    return ok
  })
  return fits && /[A-Z]/.test(self)
}
