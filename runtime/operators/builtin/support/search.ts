import { pace } from '../../../pace.js'

/*
 * Searches in byte strings. The engine's own ones take time up to the product of both lengths, and cannot be interrupted: where that could be long they are
 * replaced by the two-way algorithm of Crochemore and Perrin, which takes a few steps for each byte and no memory.
 */

/** Comparisons that the engine's search may take. */
const SHORT = 1 << 22
/** Bytes between two looks at the clock. */
const STRETCH = 1 << 12

/** Place of the first occurrence that begins at `from` or behind; -1 where there is none. */
export function firstOf(bytes: string, wanted: string, from = 0): number {
  if ((bytes.length - from) * wanted.length <= SHORT) return bytes.indexOf(wanted, from)
  const at = twoWay(wanted, bytes.length - from, (i) => wanted.charCodeAt(i), (i) => bytes.charCodeAt(from + i)) // prettier-ignore
  return at < 0 ? -1 : from + at
}

/** Place of the last occurrence that ends at `end` or before; -1 where there is none. */
export function lastOf(bytes: string, wanted: string, end = bytes.length): number {
  const { length } = wanted
  if (end < length) return -1
  if (end * length <= SHORT) return bytes.lastIndexOf(wanted, end - length)
  // the first one from the end on
  const at = twoWay(wanted, end, (i) => wanted.charCodeAt(length - 1 - i), (i) => bytes.charCodeAt(end - 1 - i)) // prettier-ignore
  return at < 0 ? -1 : end - at - length
}

/** The parts between occurrences, the first `most` of which are looked for. */
export function splitAt(bytes: string, wanted: string, most = Infinity): string[] {
  if (most === Infinity && bytes.length * wanted.length <= SHORT) return bytes.split(wanted)
  const parts: string[] = []
  let begin = 0
  while (parts.length < most) {
    const at = firstOf(bytes, wanted, begin)
    if (at < 0) break
    parts.push(bytes.slice(begin, at))
    begin = at + wanted.length
  }
  parts.push(bytes.slice(begin))
  return parts
}

type At = (index: number) => number

function twoWay({ length }: string, size: number, wanted: At, text: At): number {
  if (size < length) return -1
  const low = maximalSuffix(length, wanted, 1)
  const high = maximalSuffix(length, wanted, -1)
  const { cut, period } = low.cut > high.cut ? low : high
  let repeats = true
  for (let i = 0; repeats && i <= cut; i++) repeats = wanted(i) === wanted(i + period)
  const step = repeats ? period : Math.max(cut + 1, length - cut - 1) + 1
  /** Of a word that repeats itself, the last byte that is known to be right. */
  let known = -1
  let due = 0
  for (let at = 0; at <= size - length;) {
    let i = Math.max(cut, known) + 1
    const first = i
    while (i < length && wanted(i) === text(at + i)) i++
    if ((due += i - first + 1) > STRETCH) {
      pace(due)
      due = 0
    }
    if (i < length) {
      at += i - cut
      known = -1
      continue
    }
    i = cut
    while (i > known && wanted(i) === text(at + i)) i--
    due += cut - i
    if (i <= known) return at
    at += step
    known = repeats ? length - step - 1 : -1
  }
  return -1
}

/** The end of the word that comes last in the alphabet (or its reverse): what stands before it, and after how many bytes it repeats itself. */
function maximalSuffix(length: number, wanted: At, sign: 1 | -1): { readonly cut: number; readonly period: number } {
  let cut = -1
  let at = 0
  let k = 1
  let period = 1
  while (at + k < length) {
    if ((k & (STRETCH - 1)) === 0) pace(STRETCH)
    const order = sign * (wanted(at + k) - wanted(cut + k))
    if (order < 0) {
      at += k
      k = 1
      period = at - cut
    } else if (order === 0) {
      if (k === period) {
        at += period
        k = 1
      } else k++
    } else {
      cut = at
      at = cut + 1
      k = period = 1
    }
  }
  return { cut, period }
}
