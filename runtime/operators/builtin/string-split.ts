import { PtliteError } from '../../error.js'
import { pace } from '../../pace.js'
import { growBy } from '../../tensor/element-budget.js'
import type { Int } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import { decodeBytes, encodeBytes } from './support/bytes.js'
import { firstOf, lastOf, splitAt } from './support/search.js'
import { endOf, outside, search, startOf } from './string-search.js'

function orThrow(position: number): number {
  if (position < 0) throw new PtliteError('MODEL_ERROR', 'ValueError: substring not found')
  return position
}

export function rfind(self: string, substr: string, start: Int, end: Int): number {
  return search(self, substr, start, end, true)
}

/** As find, but throws MODEL_ERROR where there is none. */
export function str_index(self: string, substr: string, start: Int, end: Int): number {
  return orThrow(search(self, substr, start, end, false))
}

export function rindex(self: string, substr: string, start: Int, end: Int): number {
  return orThrow(search(self, substr, start, end, true))
}

/** Occurrences, without overlap, that begin in bytes start to end. */
export function str_count(self: string, substr: string, start: Int, end: Int): number {
  const bytes = encodeBytes(self)
  const wanted = encodeBytes(substr)
  if (start > bytes.length) return 0
  const to = endOf(end, bytes.length)
  let at = startOf(start, bytes.length)
  // the empty string is found once per position; std::string finds it at the end as well
  if (wanted === '') return Math.max(0, Math.min(to, bytes.length + 1) - at)
  let count = 0
  while ((at = firstOf(bytes, wanted, at)) >= 0 && at < to) {
    count++
    at += wanted.length
  }
  return count
}

function part(self: string, start: Int, end: Int): string {
  const bytes = encodeBytes(self)
  const from = startOf(start, bytes.length)
  if (from > bytes.length) throw outside(from, bytes.length)
  const to = endOf(end, bytes.length)
  // std::string::substr takes an end before the start for no end
  return to < from ? bytes.slice(from) : bytes.slice(from, to)
}

export function startswith(self: string, substr: string, start: Int, end: Int): boolean {
  return part(self, start, end).startsWith(encodeBytes(substr))
}

export function endswith(self: string, substr: string, start: Int, end: Int): boolean {
  return part(self, start, end).endsWith(encodeBytes(substr))
}

// the bytes of the separators of lines, U+0085, U+2028 and U+2029 among them: TorchScript looks for each single byte
const LINE_ENDS = '\n\r\v\f\x1c\x1d\x1e\x85\xe2\x80\xa8\xa9'
const WHITESPACE = ` \t${LINE_ENDS}`

/** Parts between separators, at most `max` splits from the left; without separator, the parts between whitespace. */
export function str_split(self: string, separator: string | null, max: Int): Value[] {
  const bytes = encodeBytes(self)
  if (separator === null)
    return splitAny(bytes, WHITESPACE)
      .filter((p) => p !== '')
      .map(decodeBytes)
  const wanted = encodeBytes(separator)
  if (wanted === '') throw new PtliteError('MODEL_ERROR', 'ValueError: empty separator')
  growBy(bytes.length)
  return splitAt(bytes, wanted, max < 0 ? Infinity : Number(max)).map(decodeBytes)
}

/** As str_split, but the splits are counted from the right. */
export function rsplit(self: string, separator: string, max: Int): Value[] {
  const wanted = encodeBytes(separator)
  if (wanted === '') throw new PtliteError('MODEL_ERROR', 'ValueError: empty separator')
  const parts: string[] = []
  const bytes = encodeBytes(self)
  growBy(bytes.length)
  let end = bytes.length
  for (let n = max < 0 ? Infinity : Number(max); n > 0; n--) {
    const at = lastOf(bytes, wanted, end)
    if (at < 0) break
    parts.push(decodeBytes(bytes.slice(at + wanted.length, end)))
    end = at
  }
  parts.push(decodeBytes(bytes.slice(0, end)))
  return parts.reverse()
}

function splitAny(bytes: string, separators: string): string[] {
  growBy(bytes.length)
  const parts: string[] = []
  let begin = 0
  pace(4 * bytes.length)
  for (let i = 0; i < bytes.length; i++) {
    if (!separators.includes(bytes[i]!)) continue
    parts.push(bytes.slice(begin, i))
    begin = i + 1
  }
  parts.push(bytes.slice(begin))
  return parts
}

/** Lines; with `keepends` each separator follows as an element of its own, as TorchScript does. */
export function splitlines(self: string, keepends: boolean): Value[] {
  const bytes = encodeBytes(self)
  const lines = splitAny(bytes, LINE_ENDS)
  const last = lines.pop()!
  const out: string[] = []
  let at = 0
  for (const line of lines) {
    out.push(decodeBytes(line))
    at += line.length
    if (keepends) out.push(decodeBytes(bytes[at]!))
    at++
  }
  if (last !== '') out.push(decodeBytes(last))
  return out
}

/** What is before the first separator, the separator, and what is after it. */
export function partition(self: string, separator: string): [string, string, string] {
  const bytes = encodeBytes(self)
  const at = firstOf(bytes, encodeBytes(separator))
  return at < 0 ? [self, '', ''] : cut(bytes, separator, at)
}

/** As partition, at the last separator. */
export function rpartition(self: string, separator: string): [string, string, string] {
  const bytes = encodeBytes(self)
  const at = lastOf(bytes, encodeBytes(separator))
  return at < 0 ? ['', '', self] : cut(bytes, separator, at)
}

function cut(bytes: string, separator: string, at: number): [string, string, string] {
  return [decodeBytes(bytes.slice(0, at)), separator, decodeBytes(bytes.slice(at + encodeBytes(separator).length))]
}
