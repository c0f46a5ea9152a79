import { grow } from '../../../tensor/growth.js'

/**
 * PyTorch's strings are byte strings: lengths, indices and searches count UTF-8 bytes. A string of the program is kept as text;
 * where bytes matter it is turned into a byte string, one character (U+0000 to U+00FF) per byte, on which JavaScript's own string
 * functions do the work. Bytes that are not UTF-8 (half of a character, after a slice) are kept as U+DC80 to U+DCFF, as Python's
 * `surrogateescape` does, so that joining the halves gives the character back.
 */

const NOT_ASCII = /[^\0-\x7f]/

export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text)
}

/** The UTF-8 bytes of a text, one character per byte. An ASCII text is its own byte string. */
export function encodeBytes(text: string): string {
  if (isAscii(text)) return text
  let bytes = ''
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (code < 0x80) bytes += character
    else if (code >= 0xdc80 && code <= 0xdcff) bytes += String.fromCharCode(code - 0xdc00)
    else if (code < 0x800) bytes += String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 63))
    else if (code < 0x10000) bytes += String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    else bytes += String.fromCharCode(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
  }
  return bytes
}

/** The text of a byte string: what an operator makes. */
export function decodeBytes(bytes: string): string {
  grow(bytes.length)
  if (isAscii(bytes)) return bytes
  let text = ''
  for (let i = 0; i < bytes.length;) {
    const code = codePointAt(bytes, i)
    if (code < 0) {
      text += String.fromCharCode(0xdc00 + bytes.charCodeAt(i++))
    } else {
      text += String.fromCodePoint(code)
      i += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    }
  }
  return text
}

/** The code point whose UTF-8 form begins at byte `at`, or -1. */
function codePointAt(bytes: string, at: number): number {
  const lead = bytes.charCodeAt(at)
  if (lead < 0x80) return lead
  const length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return -1
  let code = lead & (0xff >> (length + 1))
  for (let k = 1; k < length; k++) {
    const next = bytes.charCodeAt(at + k)
    if ((next & 0xc0) !== 0x80) return -1
    code = (code << 6) | (next & 63)
  }
  const shortest = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000
  // U+DC80 to U+DCFF stand for single bytes, so encoded surrogates must stay bytes
  if (code < shortest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return -1
  return code
}

export function byteLength(text: string): number {
  return encodeBytes(text).length
}

/** Order of two strings by their bytes: negative, 0 or positive. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return encodeBytes(a) < encodeBytes(b) ? -1 : 1
}

// the character classes of the C locale, by byte

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

export function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

export function isLower(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a
}

export function isAlpha(byte: number): boolean {
  return isUpper(byte) || isLower(byte)
}

export function isAlnum(byte: number): boolean {
  return isAlpha(byte) || isDigit(byte)
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

/** Printable and neither a letter, a digit nor a space. */
export function isPunct(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && !isAlnum(byte)
}

export function toUpper(byte: number): number {
  return isLower(byte) ? byte - 32 : byte
}

export function toLower(byte: number): number {
  return isUpper(byte) ? byte + 32 : byte
}

/** Maps every byte of a string. */
export function mapBytes(text: string, map: (byte: number, index: number) => number): string {
  const bytes = encodeBytes(text)
  let out = ''
  for (let i = 0; i < bytes.length; i++) out += String.fromCharCode(map(bytes.charCodeAt(i), i))
  return decodeBytes(out)
}

/** Whether `test` holds for every byte; true for the empty string. */
export function everyByte(text: string, test: (byte: number) => boolean): boolean {
  const bytes = encodeBytes(text)
  for (let i = 0; i < bytes.length; i++) if (!test(bytes.charCodeAt(i))) return false
  return true
}
