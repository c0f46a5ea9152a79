import type { Value } from '../../tensor/value.js'
import * as data from './generated/schemas.js'
import { unpackNumbers } from './packed.js'
import type { OperatorSchema, SchemaArgument } from './schema.js'

const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
const VARIABLE = '#'

// split at first use; the generated file says how they are written
let signatures: readonly string[] | undefined
let items: readonly string[] | undefined

/** The schema of operator `index` of the generated table. */
export function decodeSchema(index: number): OperatorSchema {
  signatures ??= data.signatures.split(' ')
  const [args, returns] = signatures[index]!.split('!') as [string, string?]
  return {
    arguments: itemsOf(args),
    isVararg: args.endsWith(VARIABLE),
    returns:
      returns === undefined
        ? [{ name: null, type: 'Tensor', alias: null, annotatedType: 'Tensor' }]
        : itemsOf(returns).map(({ name, type, alias, annotatedType }) => ({ name: name === '' ? null : name, type, alias, annotatedType })),
    isVarret: returns?.endsWith(VARIABLE) ?? false,
  }
}

function itemsOf(packed: string): SchemaArgument[] {
  return unpackNumbers(packed.replace(VARIABLE, '')).map(decodeItem)
}

function decodeItem(index: number): SchemaArgument {
  items ??= data.items.split(' ')
  const [name, packed] = items[index]!.split('!') as [string, string]
  const [typeIndex, aliasIndex, defaultIndex, flags] = unpackNumbers(packed) as [number, number, number, number]
  const type = data.types[typeIndex]!
  const alias = data.aliases[aliasIndex]!
  return {
    name,
    type,
    alias: alias === '' ? null : alias,
    // for texts of schemas, which are listed, or compared with those of custom operators
    annotatedType: annotated(type, alias, (flags & ALIAS_LAST) !== 0),
    kwargOnly: (flags & KWARG_ONLY) !== 0,
    isOut: (flags & OUT) !== 0,
    defaultValue: data.defaults[defaultIndex] as Value | undefined,
  }
}

function annotated(type: string, alias: string, last: boolean): string {
  if (alias === '') return type
  return last ? `${type}(${alias})` : type.replace(/^[\w.]+/, (name) => `${name}(${alias})`)
}
