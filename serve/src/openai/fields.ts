import { quoted } from '../protocol/error.js'
import { wrong } from './errors.js'

/** Levels of lists and objects in a body. */
const MAX_DEPTH = 64

/** The fields of a JSON object; null is as if a field were not there. */
export class Fields {
  private constructor(
    private readonly fields: Readonly<Record<string, unknown>>,
    private readonly where: string,
  ) {}

  /** Throws where it is none. `where`: how messages name it, '' for the body itself. */
  static of(value: unknown, where = ''): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw wrong(where || 'body', `expected an object, found ${quoted(value)}`)
    return new Fields(value as Record<string, unknown>, where)
  }

  nameOf(key: string): string {
    return this.where === '' ? key : `${this.where}.${key}`
  }

  get(key: string): unknown {
    return Object.hasOwn(this.fields, key) ? (this.fields[key] ?? undefined) : undefined
  }

  number(key: string, least: number, most: number): number | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (typeof value === 'number' && value >= least && value <= most) return value
    throw wrong(this.nameOf(key), `expected a number from ${least} to ${most}, found ${quoted(value)}`)
  }

  integer(key: string, least: number, most: number): number | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
    throw wrong(this.nameOf(key), `expected a whole number from ${least} to ${most}, found ${quoted(value)}`)
  }

  boolean(key: string): boolean {
    const value = this.get(key)
    if (value === undefined || typeof value === 'boolean') return value ?? false
    throw wrong(this.nameOf(key), `expected true or false, found ${quoted(value)}`)
  }

  text(key: string, most: number): string | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (typeof value !== 'string') throw wrong(this.nameOf(key), `expected a text, found ${quoted(value)}`)
    if (value.length > most) throw wrong(this.nameOf(key), `has ${value.length} characters; at most ${most}`)
    return value
  }

  list(key: string, most: number): readonly unknown[] | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (!Array.isArray(value)) throw wrong(this.nameOf(key), `expected a list, found ${quoted(value)}`)
    if (value.length > most) throw wrong(this.nameOf(key), `has ${value.length} elements; at most ${most}`)
    return value as readonly unknown[]
  }

  object(key: string): Fields | null {
    const value = this.get(key)
    return value === undefined ? null : Fields.of(value, this.nameOf(key))
  }

  oneOf<T extends string>(key: string, ...texts: readonly T[]): T | null {
    const value = this.get(key)
    if (value === undefined) return null
    if (texts.includes(value as T)) return value as T
    throw wrong(this.nameOf(key), `expected ${texts.map((each) => `'${each}'`).join(', ')}, found ${quoted(value)}`)
  }

  *entries(): Iterable<[string, unknown]> {
    yield* Object.entries(this.fields)
  }

  get value(): Readonly<Record<string, unknown>> {
    return this.fields
  }
}

/** Throws where values are nested deeper than anybody means it. */
export function checkDepth(value: unknown): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw wrong('body', `is nested more than ${MAX_DEPTH} levels deep`)
    level = level.flatMap((each): unknown[] => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
}
