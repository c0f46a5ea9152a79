import type { Value } from '../tensor/value.js'
import type { OperatorSchema, SchemaArgument } from './schema.js'

/** The generated arrays; the generated file says what their numbers mean. */
export interface SchemaData {
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly aliases: readonly string[]
  readonly defaults: readonly unknown[]
  readonly args: readonly number[]
  readonly signatures: readonly number[]
}

const ROW = 5
const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
const VARARG = 1
const VARRET = 2

/** The schema whose signature starts at `offset`. */
export function decodeSchema(data: SchemaData, offset: number): OperatorSchema {
  const [argCount, returnCount, flags] = data.signatures.slice(offset, offset + 3) as [number, number, number]
  const at = offset + 3
  return {
    arguments: data.signatures.slice(at, at + argCount).map((row) => decodeArgument(data, row * ROW)),
    isVararg: (flags & VARARG) !== 0,
    returns: data.signatures.slice(at + argCount, at + argCount + returnCount).map((row) => {
      const { name, type, alias, annotatedType } = decodeArgument(data, row * ROW)
      return { name: name === '' ? null : name, type, alias, annotatedType }
    }),
    isVarret: (flags & VARRET) !== 0,
  }
}

function decodeArgument(data: SchemaData, at: number): SchemaArgument {
  const flags = data.args[at + 4]!
  const type = data.types[data.args[at + 1]!]!
  const alias = data.aliases[data.args[at + 2]!]!
  return {
    name: data.names[data.args[at]!]!,
    type,
    alias: alias === '' ? null : alias,
    annotatedType: annotated(type, alias, (flags & ALIAS_LAST) !== 0),
    kwargOnly: (flags & KWARG_ONLY) !== 0,
    isOut: (flags & OUT) !== 0,
    defaultValue: data.defaults[data.args[at + 3]!] as Value | undefined,
  }
}

function annotated(type: string, alias: string, last: boolean): string {
  if (alias === '') return type
  return last ? `${type}(${alias})` : type.replace(/^[\w.]+/, (name) => `${name}(${alias})`)
}
