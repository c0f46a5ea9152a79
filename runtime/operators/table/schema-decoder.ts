import type { Value } from '../../tensor/value.js'
import { unpackNumbers } from './packed.js'
import type { OperatorSchema, SchemaArgument } from './schema.js'

const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
const VARIABLE = '#'

/** A generated file of schemas, which says how it is written (codegen/emit/schemas.ts). */
export interface SchemaData {
  readonly types: readonly string[]
  readonly aliases: readonly string[]
  readonly defaults: readonly unknown[]
  readonly items: string
  readonly signatures: string
}

/** What gives the schema at a position of a table. */
export function decoderOf(data: SchemaData): (position: number) => OperatorSchema {
  // split at first use
  let signatures: readonly string[] | undefined
  let items: readonly string[] | undefined

  const itemAt = (index: number): SchemaArgument => {
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
  const itemsOf = (packed: string): SchemaArgument[] => unpackNumbers(packed.replace(VARIABLE, '')).map(itemAt)

  return (position) => {
    signatures ??= data.signatures.split(' ')
    const [args, returns] = signatures[position]!.split('!') as [string, string?]
    return {
      arguments: itemsOf(args),
      isVararg: args.endsWith(VARIABLE),
      returns:
        returns === undefined
          ? [{ name: null, type: 'Tensor', alias: null, annotatedType: 'Tensor' }]
          : itemsOf(returns).map(({ name, type, alias, annotatedType }) => ({
              name: name === '' ? null : name,
              type,
              alias,
              annotatedType,
            })),
      isVarret: returns?.endsWith(VARIABLE) ?? false,
    }
  }
}

function annotated(type: string, alias: string, last: boolean): string {
  if (alias === '') return type
  return last ? `${type}(${alias})` : type.replace(/^[\w.]+/, (name) => `${name}(${alias})`)
}
