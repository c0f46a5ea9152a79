import { PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { decodeBytes, encodeBytes } from './support/bytes.js'
import { splitAt } from './support/search.js'
import { newLength } from './support/sequence.js'

/** Which bytes a string has. */
function setOf(chars: string): Uint8Array {
  const bytes = encodeBytes(chars)
  const set = new Uint8Array(256)
  for (let i = 0; i < bytes.length; i++) set[bytes.charCodeAt(i)] = 1
  return set
}

/** Index of the first byte that the set does not have; the length if there is none. */
function firstOutside(bytes: string, set: Uint8Array): number {
  let i = 0
  while (i < bytes.length && set[bytes.charCodeAt(i)] === 1) i++
  return i
}

function lastOutside(bytes: string, set: Uint8Array): number {
  let i = bytes.length
  while (i > 0 && set[bytes.charCodeAt(i - 1)] === 1) i--
  return i
}

/** Without the bytes of `chars` at both ends. */
export function strip(self: string, chars: string): string {
  const bytes = encodeBytes(self)
  const set = setOf(chars)
  const rest = bytes.slice(0, lastOutside(bytes, set))
  return decodeBytes(rest.slice(firstOutside(rest, set)))
}

export function lstrip(self: string, chars: string): string {
  const bytes = encodeBytes(self)
  return decodeBytes(bytes.slice(firstOutside(bytes, setOf(chars))))
}

export function rstrip(self: string, chars: string): string {
  const bytes = encodeBytes(self)
  return decodeBytes(bytes.slice(0, lastOutside(bytes, setOf(chars))))
}

/** At most `max` occurrences, from the left; all of them if `max` is negative. */
export function str_replace(self: string, old: string, new_: string, max: Int): string {
  const bytes = encodeBytes(self)
  const from = encodeBytes(old)
  const to = encodeBytes(new_)
  if (from === '') {
    // TorchScript finds the empty string before the first byte again and again
    if (max < 0) throw new PtliteError('MODEL_ERROR', 'ValueError: cannot replace every empty string')
    newLength(Number(max) * to.length)
    return decodeBytes(to.repeat(Number(max)) + bytes)
  }
  const parts = splitAt(bytes, from, max < 0 ? Infinity : Number(max))
  newLength((parts.length - 1) * to.length)
  return decodeBytes(parts.join(to))
}

function checkFill(fillchar: string): string {
  const fill = encodeBytes(fillchar)
  if (fill.length !== 1) {
    throw new PtliteError('MODEL_ERROR', 'TypeError: the fill character must be exactly one byte long')
  }
  return fill
}

const missing = (bytes: string, width: Int): number => Math.max(0, newLength(Number(width)) - bytes.length)

/** Centered; of an odd number of fill bytes the extra one goes left if the width is odd, else right. */
export function center(self: string, width: Int, fillchar: string): string {
  const fill = checkFill(fillchar)
  const bytes = encodeBytes(self)
  const padding = missing(bytes, width)
  const [small, large] = [Math.floor(padding / 2), Math.ceil(padding / 2)]
  const [left, right] = Number(width) % 2 === 0 ? [small, large] : [large, small]
  return decodeBytes(fill.repeat(left) + bytes + fill.repeat(right))
}

export function ljust(self: string, width: Int, fillchar: string): string {
  const fill = checkFill(fillchar)
  const bytes = encodeBytes(self)
  return decodeBytes(bytes + fill.repeat(missing(bytes, width)))
}

export function rjust(self: string, width: Int, fillchar: string): string {
  const fill = checkFill(fillchar)
  const bytes = encodeBytes(self)
  return decodeBytes(fill.repeat(missing(bytes, width)) + bytes)
}

/** Zeros on the left; a sign stays behind them, unlike in Python. */
export function zfill(self: string, width: Int): string {
  return '0'.repeat(missing(encodeBytes(self), width)) + self
}

/** Tabs as spaces up to the next multiple of `tabsize` bytes; line ends do not restart the count. */
export function expandtabs(self: string, tabsize: Int): string {
  const size = Number(tabsize)
  let length = 0
  const parts = encodeBytes(self).split('\t')
  const last = parts.pop()!
  const wide = parts.map((part) => {
    length += part.length
    const blanks = size > 0 ? newLength(size - (length % size)) : 0
    length += blanks
    return part + ' '.repeat(blanks)
  })
  return decodeBytes([...wide, last].join(''))
}
