import { damaged } from '../../program/file-error.js'
import { Deferred, type Json, type JsonObject } from './json.js'

/** What a value is, for messages. */
function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Map || value instanceof Deferred) return 'an object'
  return typeof value === 'string' ? `'${value.slice(0, 80)}'` : String(value)
}

export function unexpectedJson(expected: string, value: Json | undefined): Error {
  return damaged(`expected ${expected}, found ${kindOf(value)}`)
}

export function objectOf(value: Json | undefined, what = 'an object'): JsonObject {
  if (value instanceof Map) return value
  throw unexpectedJson(what, value)
}

export function listOf(value: Json | undefined, what = 'a list'): readonly Json[] {
  if (Array.isArray(value)) return value
  throw unexpectedJson(what, value)
}

export function textOf(value: Json | undefined, what = 'a text'): string {
  if (typeof value === 'string') return value
  throw unexpectedJson(what, value)
}

export function booleanOf(value: Json | undefined, what = 'true or false'): boolean {
  if (typeof value === 'boolean') return value
  throw unexpectedJson(what, value)
}

const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const

/** An integer of 64 bits. */
export function integerOf(value: Json | undefined, what = 'an integer'): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  if (typeof value === 'bigint' && value >= INT64[0] && value <= INT64[1]) return value
  throw unexpectedJson(what, value)
}

/** An integer from `min` to `max`. */
export function countOf(value: Json | undefined, what = 'a number', min = 0, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw unexpectedJson(`${what} from ${min} to ${max}`, value)
}

const NOT_FINITE: ReadonlyMap<Json | undefined, number> = new Map<Json, number>([
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['NaN', NaN],
])

/** A number of 64 bits; those that are not finite are texts. */
export function floatOf(value: Json | undefined, what = 'a float'): number {
  const special = NOT_FINITE.get(value)
  if (special !== undefined) return special
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  throw unexpectedJson(what, value)
}

/** The only field of an object that holds one of several: its name and value. */
export function variantOf(value: Json | undefined, what: string): readonly [name: string, value: Json] {
  const fields = [...objectOf(value, what)]
  // older writers have a field for each, null but for one
  const set = fields.length === 1 ? fields : fields.filter(([, item]) => item !== null)
  if (set.length !== 1) throw damaged(`expected ${what} with one field, found ${set.length}`)
  return set[0]!
}
