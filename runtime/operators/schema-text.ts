import { Float } from '../tensor/scalar.js'
import type { Value } from '../tensor/value.js'
import type { OperatorSchema, SchemaArgument, SchemaReturn } from './schema.js'

/** The schema in PyTorch's syntax: `aten::relu(Tensor self) -> Tensor`. */
export function schemaText(qualifiedName: string, schema: OperatorSchema): string {
  const parts: string[] = []
  let kwargOnly = false
  for (const argument of schema.arguments) {
    if (argument.kwargOnly && !kwargOnly) parts.push('*')
    kwargOnly = argument.kwargOnly
    parts.push(argumentText(argument))
  }
  if (schema.isVararg) parts.push('...')
  return `${qualifiedName}(${parts.join(', ')}) -> ${returnsText(schema)}`
}

function argumentText(argument: SchemaArgument): string {
  const text = `${annotated(argument.type, argument.alias)} ${argument.name}`
  return argument.defaultValue === undefined ? text : `${text}=${defaultText(argument.defaultValue)}`
}

function returnsText(schema: OperatorSchema): string {
  if (schema.isVarret) return '...'
  const texts = schema.returns.map(returnText)
  return texts.length === 1 && !texts[0]!.startsWith('(') ? texts[0]! : `(${texts.join(', ')})`
}

function returnText(value: SchemaReturn): string {
  const text = annotated(value.type, value.alias)
  return value.name === null ? text : `${text} ${value.name}`
}

// lists of tensors carry the annotation on their elements, as in Tensor(a!)[]
function annotated(type: string, alias: string | null): string {
  if (alias === null) return type
  const suffix = /^(?:Tensor|t)(\[\d*\]|\?)$/.exec(type)?.[1] ?? ''
  return `${type.slice(0, type.length - suffix.length)}(${alias})${suffix}`
}

function defaultText(value: Value): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Float)
    return Number.isInteger(value.value) && Math.abs(value.value) < 1e16 ? value.value.toFixed(1) : String(value.value)
  if (Array.isArray(value)) return `[${value.map(defaultText).join(', ')}]`
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '?'
}
