import { Float } from '../../runtime/tensor/scalar.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { DefaultValue, SchemaType } from '../schema/model.js'

/** Enumerators that schemas use as defaults, by the type they belong to: at::Reduction, c10::ScalarType, MemoryFormat and Layout numbers. */
const REDUCTION = new Map([
  ['Mean', 1],
  ['Sum', 2],
])
const SYMBOLS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
  ['int', REDUCTION],
  ['SymInt', REDUCTION],
  [
    'ScalarType',
    new Map([
      ['long', 4],
      ['float', 6],
      ['double', 7],
    ]),
  ],
  [
    'MemoryFormat',
    new Map([
      ['contiguous_format', 0],
      ['preserve_format', 1],
    ]),
  ],
  ['Layout', new Map([['strided', 0]])],
])

/** A default as the text of a stack value; null where it does not fit the type. */
export function defaultLiteral(value: DefaultValue, type: SchemaType): string | null {
  const found = defaultOf(value, type)
  return found === undefined ? null : literalOf(found)
}

function literalOf(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  if (value instanceof Float) return `new Float(${value.value})`
  return typeof value === 'bigint'
    ? `${value}n`
    : typeof value === 'string'
      ? JSON.stringify(value)
      : String(value as number | boolean | null)
}

/** A default as a stack value; undefined where it does not fit the type. */
export function defaultOf(value: DefaultValue, type: SchemaType): Value | undefined {
  if (type.kind === 'optional') return value.kind === 'none' ? null : defaultOf(value, type.inner)
  if (type.kind === 'list') {
    if (value.kind !== 'list') return type.size === null ? undefined : repeated(value, type.inner, type.size)
    const items = value.items.map((item) => defaultOf(item, type.inner))
    return items.includes(undefined) ? undefined : (items as Value[])
  }
  return type.kind === 'base' ? baseValue(value, type.name) : undefined
}

function repeated(value: DefaultValue, inner: SchemaType, size: number): Value | undefined {
  const item = defaultOf(value, inner)
  return item === undefined ? undefined : new Array<Value>(size).fill(item)
}

const INTS = new Set(['int', 'SymInt', 'ScalarType', 'Layout', 'MemoryFormat'])

function baseValue(value: DefaultValue, type: string): Value | undefined {
  const isNumber = type === 'Scalar' || type === 'number'
  switch (value.kind) {
    case 'bool':
      return type === 'bool' || isNumber ? value.value : undefined
    case 'int':
      if (type === 'float') return new Float(Number(value.text))
      return INTS.has(type) || isNumber ? intOf(value.text) : undefined
    case 'float':
      return type === 'float' || isNumber ? new Float(Number(value.text)) : undefined
    case 'str':
      return type === 'str' ? value.value : undefined
    case 'symbol':
      return SYMBOLS.get(type)?.get(value.name)
    case 'none':
      return type === 'Any' || type === 'Generator' ? null : undefined
    case 'list':
      return undefined
  }
}

function intOf(text: string): number | bigint {
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
}
