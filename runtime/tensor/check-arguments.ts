import { check, PtliteError } from '../error.js'
import { kindOf } from './kind-of.js'
import * as features from '../features.js'

/** Checks of what programs without types may pass, before anything is done with it. All throw INVALID_ARGUMENT with `what` the value is. */

export function checkText(value: unknown, what: string): asserts value is string {
  check(typeof value === 'string', () => `expected ${what}, a string, found ${kindOf(value)}`)
}

export function checkList(value: unknown, what: string): asserts value is readonly unknown[] {
  check(
    reading(() => Array.isArray(value)),
    () => `expected ${what}, an array, found ${kindOf(value)}`,
  )
}

/**
 * `options` must be an object with no other properties than these, each undefined or as its test says, which returns what it expects instead.
 * A name that is nearly one of them is said to be that.
 */
export function checkOptions(options: unknown, tests: Readonly<Record<string, Test>>, where: string): void {
  if (Object.prototype.toString.call(options) !== '[object Object]')
    throw new PtliteError('INVALID_ARGUMENT', `${where}: expected an object of options, found ${kindOf(options)}`)
  for (const name of Object.keys(options as object)) {
    const value = (options as Readonly<Record<string, unknown>>)[name]
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined
    if (test === undefined) throw unknownOption(name, Object.keys(tests), where)
    const expected = value === undefined ? null : test(value)
    check(expected === null, () => `${where}: expected ${name} to be ${expected!}, found ${valueText(value)}`)
  }
}

/** Short values as they are. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value)
}

type Test = (value: unknown) => string | null

/** What is looked at where it is used. */
export function anything(): null {
  return null
}

export function boolean(value: unknown): string | null {
  return typeof value === 'boolean' ? null : 'true or false'
}

export function callback(value: unknown): string | null {
  return typeof value === 'function' ? null : 'a function'
}

/** Infinity is as good as none. */
export function count(value: unknown): string | null {
  return typeof value === 'number' && value >= 1 && (Number.isSafeInteger(value) || value === Infinity)
    ? null
    : 'a whole number of at least 1'
}

/** A number above 0. */
export function positive(value: unknown): string | null {
  return typeof value === 'number' && value > 0 ? null : 'a number above 0'
}

export function oneOf(...values: readonly string[]): Test {
  return (value) => (values.includes(value as string) ? null : values.map((one) => `'${one}'`).join(' or '))
}

/** Runs `read`, which looks at what a caller passed: what that throws itself, a getter or a proxy, is an error of the library. */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof PtliteError) throw cause
    const { name } = (cause ?? {}) as Partial<Error>
    throw new PtliteError('INVALID_ARGUMENT', `an argument cannot be read: looking at it threw ${name ?? kindOf(cause)}`, { cause })
  }
}

/** An unknown option, with the nearest known name. */
export function unknownOption(name: string, known: readonly string[], where: string): PtliteError {
  if (!features.advice) return unknown(name, where, `it takes ${known.join(', ')}`)
  const ranked = known.map((other) => ({ other, distance: distanceOf(name.toLowerCase(), other.toLowerCase()) }))
  const { other, distance } = ranked.reduce((best, one) => (one.distance < best.distance ? one : best))
  const advice = distance <= Math.max(2, name.length / 3) ? `did you mean '${other}'?` : `it takes ${known.join(', ')}`
  return unknown(name, where, advice)
}

function unknown(name: string, where: string, advice: string): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${where} takes no option '${name.slice(0, 40)}'; ${advice}`)
}

/** Letters to insert, take away or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) next.push(Math.min(row[j]! + (letter === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    row = next
  }
  return row[b.length]!
}
