import type { Seen } from './values.js'

/** Of the larger of 1 and the value. */
const TOLERANCE = 1e-4

/** Of the largest number that a program has: what is left where such ones cancel is their rounding. */
const ROUNDING = 2 ** -20

/** The largest finite number of a value. */
export function largestIn(seen: Seen): number {
  if (typeof seen === 'number') return Number.isFinite(seen) ? Math.abs(seen) : 0
  if (seen === null || typeof seen !== 'object' || 'gone' in seen) return 0
  const numbers =
    'data' in seen
      ? seen.data
      : 'list' in seen
        ? seen.list.map(largestIn)
        : ('dict' in seen ? seen.dict : seen.object).map(([, item]) => largestIn(item))
  return numbers.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0)
}

/** Where two values differ, and how; null where they do not. `largest` is that of the numbers that they can have been computed with. */
export function difference(found: Seen, wanted: Seen, path: string, sharing: boolean, largest = 0, tolerance = TOLERANCE): string | null {
  const size = Math.max(1, (largest * ROUNDING) / tolerance)
  if (typeof found === 'number' && typeof wanted === 'number')
    return isClose(found, wanted, tolerance, size) ? null : `${path}: ${found} for ${wanted}`
  if (found === null || wanted === null || typeof found !== 'object' || typeof wanted !== 'object')
    return found === wanted ? null : `${path}: ${shown(found)} for ${shown(wanted)}`
  if ('data' in found && 'data' in wanted) {
    const form = ({ dtype, shape, strides }: typeof wanted): string => `${dtype}[${shape.join()}] with strides ${strides.join()}`
    if (form(found) !== form(wanted)) return `${path}: ${form(found)} for ${form(wanted)}`
    const bound = wanted.data.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), size)
    const at = wanted.data.findIndex((x, i) => !isClose(found.data[i]!, x, tolerance, bound))
    if (at >= 0) return `${path}, element ${at}: ${found.data[at]} for ${wanted.data[at]}`
    if (sharing && found.at !== wanted.at) return `${path}: shares memory with number ${found.at}, expected ${wanted.at}`
    return null
  }
  if ('list' in found && 'list' in wanted) {
    if (found.list.length !== wanted.list.length) return `${path}: ${found.list.length} elements for ${wanted.list.length}`
    return firstOf(wanted.list, (item, i) => difference(found.list[i]!, item, `${path}[${i}]`, sharing, largest, tolerance))
  }
  const [a, b] = [found, wanted].map((value) => ('dict' in value ? value.dict : 'object' in value ? value.object : undefined))
  if (a !== undefined && b !== undefined) {
    const keys = [a, b].map((entries) => entries.map(([key]) => key).join())
    if (keys[0] !== keys[1]) return `${path}: keys ${keys[0]} for ${keys[1]}`
    return firstOf(b, ([key, item], i) => difference(a[i]![1], item, `${path}.${key}`, sharing, largest, tolerance))
  }
  return 'gone' in found && 'gone' in wanted ? null : `${path}: ${shown(found)} for ${shown(wanted)}`
}

function firstOf<T>(items: readonly T[], compare: (item: T, i: number) => string | null): string | null {
  for (const [i, item] of items.entries()) {
    const found = compare(item, i)
    if (found !== null) return found
  }
  return null
}

/** `size` is that of what the value was computed with: large values that cancel leave their rounding. */
function isClose(a: number, b: number, tolerance: number, size: number): boolean {
  return Object.is(a, b) || a === b || Math.abs(a - b) <= tolerance * Math.max(size, Math.abs(b))
}

function shown(value: Seen): string {
  return JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v)).slice(0, 120)
}
