import { quoted } from '../../protocol/error.js'
import type { Item } from './grammar.js'

/** A schema that is none, or that says what this server cannot make a model keep to. */
export class SchemaError extends Error {}

type Schema = Readonly<Record<string, unknown>>

const MAX_SCHEMAS = 1000
const MAX_TEXT = 1 << 16
const MAX_ITEMS = 1000
/** Digits before a point, behind it, and of an exponent: a model need not end a number otherwise. */
const [INTEGER_DIGITS, FRACTION_DIGITS, EXPONENT_DIGITS] = [18, 18, 2]

/** What says nothing of a value that a model has to keep to. */
const NOTES = [
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'strict',
  'readOnly',
  'deprecated',
]
const KEYWORDS = [
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'anyOf',
  'oneOf',
  '$ref',
]
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
type Type = (typeof TYPES)[number]

/** Characters of a string that stand for themselves, alone or in any number. */
export const isPlain = (character: string): boolean => character >= ' ' && character !== '"' && character !== '\\'

/**
 * The texts that are JSON of a schema, without spaces other than one behind a comma or colon, and with properties in the schema's order. null: any object. Throws SchemaError.
 *
 * What of JSON Schema it knows is `KEYWORDS`; more than `properties` names is not generated where there are any.
 */
export function itemsOf(schema: Schema | null): { readonly items: readonly Item[]; readonly isInString: (item: Item) => boolean } {
  const reader = new Reader(schema ?? {})
  return { items: [schema === null ? reader.object({}, '') : reader.read(schema, '')], isInString: (item) => item === reader.plain }
}

class Reader {
  private nextId = 1
  private readonly characters = new Map<string, Item>()
  private texts = 0
  private schemas = 0
  private readonly items = new Map<unknown, Item>()
  private readonly space = this.rule(() => [[], [this.one((c) => c === ' ')]])
  private readonly digit = this.one((c) => c >= '0' && c <= '9')
  /** A character of a string that stands for itself. */
  readonly plain = this.one(isPlain)
  private readonly hex = this.one((c) => /^[0-9a-fA-F]$/.test(c))
  private readonly escape = this.rule(() => [
    [this.one((c) => '"\\/bfnrt'.includes(c))],
    [this.literal('u'), this.hex, this.hex, this.hex, this.hex],
  ])
  private readonly backslash = this.literal('\\')
  private readonly quote = this.literal('"')
  private readonly inString: Item = this.rule(() => [
    [this.quote],
    [this.plain, this.inString],
    [this.backslash, this.escape, this.inString],
  ])
  private readonly string = this.rule(() => [[this.quote, this.inString]])
  private readonly integer = this.rule(() => [
    [this.optional('-'), this.literal('0')],
    [this.optional('-'), this.one((c) => c >= '1' && c <= '9'), this.upTo(this.digit, INTEGER_DIGITS - 1)],
  ])
  private readonly number = this.rule(() => {
    const fraction = this.rule(() => [[], [this.literal('.'), this.digit, this.upTo(this.digit, FRACTION_DIGITS - 1)]])
    const sign = this.rule(() => [[], [this.one((c) => c === '+' || c === '-')]])
    const exponent = this.rule(() => [
      [],
      [this.one((c) => c === 'e' || c === 'E'), sign, this.digit, this.upTo(this.digit, EXPONENT_DIGITS - 1)],
    ])
    return [[this.integer, fraction, exponent]]
  })
  private readonly any: Item = this.rule(() => TYPES.filter((type) => type !== 'integer').map((type) => [this.typed(type, {}, '')]))

  constructor(private readonly root: Schema) {}

  /** The values of a schema. */
  read(value: unknown, where: string): Item {
    if (value === true) return this.any
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new SchemaError(`${where || 'the schema'}: expected an object, found ${quoted(value)}`)
    const known = this.items.get(value)
    if (known !== undefined) return known
    if (++this.schemas > MAX_SCHEMAS) throw new SchemaError(`the schema has more than ${MAX_SCHEMAS} schemas in it`)
    let alternatives: readonly (readonly Item[])[] = []
    const item = this.rule(() => alternatives)
    // before what is in it, which may refer to it
    this.items.set(value, item)
    alternatives = this.alternativesOf(value as Schema, where)
    return item
  }

  private alternativesOf(schema: Schema, where: string): readonly (readonly Item[])[] {
    const at = (key: string): string => within(where, key)
    for (const key of Object.keys(schema))
      if (!KEYWORDS.includes(key) && !NOTES.includes(key))
        throw new SchemaError(`${at(key).slice(0, 200)} is not supported; there are ${KEYWORDS.join(', ')}`)
    const { $ref, anyOf, oneOf, type } = schema
    if ($ref !== undefined) return [[this.read(this.resolve($ref, at('$ref')), where)]]
    if ('const' in schema) return [this.json(schema['const'])]
    if (schema['enum'] !== undefined) return listOf(schema['enum'], at('enum')).map((each) => this.json(each))
    const several = anyOf ?? oneOf
    if (several !== undefined) return listOf(several, at('anyOf')).map((each, i) => [this.read(each, `${at('anyOf')}[${i}]`)])
    if (type === undefined) {
      if (schema['properties'] !== undefined) return [[this.typed('object', schema, where)]]
      return schema['items'] === undefined ? [[this.any]] : [[this.typed('array', schema, where)]]
    }
    return (Array.isArray(type) ? (type as unknown[]) : [type]).map((each) => {
      if (!TYPES.includes(each as Type)) throw new SchemaError(`${at('type')}: expected one of ${TYPES.join(', ')}, found ${quoted(each)}`)
      return [this.typed(each as Type, schema, where)]
    })
  }

  private typed(type: Type, schema: Schema, where: string): Item {
    switch (type) {
      case 'string':
        return this.string
      case 'number':
        return this.number
      case 'integer':
        return this.integer
      case 'boolean':
        return this.rule(() => [this.json(true), this.json(false)])
      case 'null':
        return this.rule(() => [this.json(null)])
      case 'array':
        return this.array(schema, where)
      case 'object':
        return this.object(schema, where)
    }
  }

  object(schema: Schema, where: string): Item {
    const { properties = {}, required = [], additionalProperties = true } = schema
    if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
      throw new SchemaError(`${within(where, 'properties')}: expected an object, found ${quoted(properties)}`)
    const names = Object.keys(properties)
    const needed = listOf(required, within(where, 'required'))
    const missing = needed.find((name) => !names.includes(name as string))
    if (missing !== undefined) throw new SchemaError(`${within(where, 'required')}: there is no property ${quoted(missing)}`)
    if (names.length === 0) {
      if (additionalProperties === false) return this.sequence(this.literals('{}'))
      const value = additionalProperties === true ? this.any : this.read(additionalProperties, within(where, 'additionalProperties'))
      return this.list('{', '}', this.sequence([this.string, this.literal(':'), this.space, value]), 0, Infinity)
    }
    const pairs = names.map((name) => {
      const value = this.read((properties as Schema)[name], within(where, `properties.${name}`.slice(0, 200)))
      return this.sequence([...this.json(name), this.literal(':'), this.space, value])
    })
    // each of those up to the next that has to be there
    const from = (place: number, isFirst: boolean): Item =>
      this.rule(() => {
        const found: Item[][] = []
        for (let i = place; i < names.length; i++) {
          found.push([...(isFirst ? [] : [this.literal(','), this.space]), pairs[i]!, from(i + 1, false)])
          if (needed.includes(names[i])) return found
        }
        return [...found, this.literals('}')]
      })
    return this.sequence([this.literal('{'), from(0, true)])
  }

  private array(schema: Schema, where: string): Item {
    const { items = true, minItems = 0, maxItems = Infinity } = schema
    for (const [key, value] of Object.entries({ minItems, maxItems }))
      if (value !== Infinity && !(Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_ITEMS))
        throw new SchemaError(`${within(where, key)}: expected a whole number up to ${MAX_ITEMS}, found ${quoted(value)}`)
    return this.list('[', ']', this.read(items, within(where, 'items')), minItems as number, maxItems as number)
  }

  /** Elements with commas between them. */
  private list(open: string, close: string, element: Item, least: number, most: number): Item {
    const after = (count: number): Item => {
      // one of no end is the same from some count on
      const place = most === Infinity ? Math.min(count, Math.max(least, 1)) : count
      return (rests[place] ??= this.rule(() => [
        ...(place >= least ? [this.literals(close)] : []),
        ...(place < most ? [[...(place === 0 ? [] : [this.literal(','), this.space]), element, after(place + 1)]] : []),
      ]))
    }
    const rests: Item[] = []
    return this.sequence([this.literal(open), after(0)])
  }

  private resolve(ref: unknown, where: string): unknown {
    if (typeof ref !== 'string' || !/^#(\/[^/]+)*$/.test(ref))
      throw new SchemaError(`${where}: expected a place in the schema, such as #/$defs/name, found ${quoted(ref)}`)
    let found: unknown = this.root
    for (const part of ref.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as Schema)[key] : undefined
    }
    if (found === undefined) throw new SchemaError(`${where}: there is no ${quoted(ref)}`)
    return found
  }

  /** A value as it stands in JSON. */
  private json(value: unknown): Item[] {
    const text = JSON.stringify(value)
    this.texts += text.length
    if (this.texts > MAX_TEXT) throw new SchemaError(`the schema has more than ${MAX_TEXT} characters of names and values`)
    return this.literals(text)
  }

  private literals(text: string): Item[] {
    return [...text].map((character) => this.literal(character))
  }

  private literal(character: string): Item {
    let found = this.characters.get(character)
    if (found === undefined) this.characters.set(character, (found = this.one((c) => c === character)))
    return found
  }

  private optional(character: string): Item {
    return this.rule(() => [[], [this.literal(character)]])
  }

  private upTo(item: Item, count: number): Item {
    return this.rule(() => (count === 0 ? [[]] : [[], [item, this.upTo(item, count - 1)]]))
  }

  private sequence(items: readonly Item[]): Item {
    return this.rule(() => [items])
  }

  private one(takes: (character: string) => boolean): Item {
    return { id: this.nextId++, takes, alternatives: () => [] }
  }

  /** Its alternatives are made when they are first asked for: those of some have it among them. */
  private rule(make: () => readonly (readonly Item[])[]): Item {
    let made: readonly (readonly Item[])[] | null = null
    return { id: this.nextId++, takes: null, alternatives: () => (made ??= make()) }
  }
}

function within(where: string, key: string): string {
  return where === '' ? key : `${where}.${key}`
}

function listOf(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new SchemaError(`${where}: expected a list, found ${quoted(value)}`)
  return value
}
