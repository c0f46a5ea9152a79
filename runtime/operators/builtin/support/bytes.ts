import { latin1, latin1TextOf, strictTextOf, utf8 } from '../../../encoding.js'
import { pace } from '../../../pace.js'
import { grow } from '../../../tensor/element-budget.js'

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

/** Half of a pair of surrogates, which stands for a byte here. */
const LONE = /\p{Surrogate}/u
/** Characters that are put together at a time. */
const STRETCH = 1 << 12

/** The UTF-8 bytes of a text, one character per byte. An ASCII text is its own byte string. */
export function encodeBytes(text: string): string {
  if (isAscii(text)) return text
  pace(text.length)
  if (!LONE.test(text)) return latin1TextOf(utf8(text))
  const parts: string[] = []
  let bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (code < 0x80) bytes.push(code)
    else if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00)
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    if (bytes.length >= STRETCH) bytes = flush(bytes, parts)
  }
  flush(bytes, parts)
  return parts.join('')
}

/** The text of a byte string: what an operator makes. */
export function decodeBytes(bytes: string): string {
  grow(bytes.length)
  if (isAscii(bytes)) return bytes
  pace(bytes.length)
  const text = strictTextOf(latin1(bytes))
  if (text !== undefined) return text
  const parts: string[] = []
  let units: number[] = []
  for (let i = 0; i < bytes.length;) {
    const code = codePointAt(bytes, i)
    if (code < 0) units.push(0xdc00 + bytes.charCodeAt(i++))
    else {
      if (code < 0x10000) units.push(code)
      else units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff))
      i += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    }
    if (units.length >= STRETCH) units = flush(units, parts)
  }
  flush(units, parts)
  return parts.join('')
}

/** Adds characters, by their codes, to the parts of a text. */
function flush(codes: readonly number[], parts: string[]): number[] {
  pace(8 * codes.length)
  parts.push(String.fromCharCode(...codes))
  return []
}

export function byteLength(text: string): number {
  return encodeBytes(text).length
}

/** Order of two strings by their bytes: negative, 0 or positive. */
export function compareBytes(a: string, b: string): number {
  pace((a.length + b.length) >> 3)
  if (a === b) return 0
  return encodeBytes(a) < encodeBytes(b) ? -1 : 1
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
