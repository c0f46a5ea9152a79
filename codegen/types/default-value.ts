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
  if (type.kind === 'optional') return value.kind === 'none' ? 'null' : defaultLiteral(value, type.inner)
  if (type.kind === 'list') {
    if (value.kind !== 'list') return type.size === null ? null : scalarList(value, type.inner, type.size)
    const items = value.items.map((item) => defaultLiteral(item, type.inner))
    return items.includes(null) ? null : `[${items.join(', ')}]`
  }
  if (type.kind !== 'base') return null
  return baseLiteral(value, type.name)
}

function scalarList(value: DefaultValue, inner: SchemaType, size: number): string | null {
  const item = defaultLiteral(value, inner)
  return item === null ? null : `[${new Array<string>(size).fill(item).join(', ')}]`
}

function baseLiteral(value: DefaultValue, type: string): string | null {
  const isNumber = type === 'Scalar' || type === 'number'
  switch (value.kind) {
    case 'bool':
      return type === 'bool' || isNumber ? String(value.value) : null
    case 'int':
      if (type === 'float') return `new Float(${Number(value.text)})`
      return type === 'int' || type === 'SymInt' || type === 'ScalarType' || type === 'Layout' || type === 'MemoryFormat' || isNumber
        ? intLiteral(value.text)
        : null
    case 'float':
      return type === 'float' || isNumber ? `new Float(${Number(value.text)})` : null
    case 'str':
      return type === 'str' ? JSON.stringify(value.value) : null
    case 'symbol':
      return SYMBOLS.get(type)?.get(value.name)?.toString() ?? null
    case 'none':
      return type === 'Any' || type === 'Generator' ? 'null' : null
    case 'list':
      return null
  }
}

function intLiteral(text: string): string {
  return Number.isSafeInteger(Number(text)) ? text : `${text}n`
}
