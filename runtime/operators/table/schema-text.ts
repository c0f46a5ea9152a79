import { Float } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
import type { OperatorSchema, SchemaArgument, SchemaReturn } from './schema.js'

/** A schema whose arguments and results are texts already. */
export interface SchemaParts {
  readonly arguments: readonly { readonly text: string; readonly kwargOnly: boolean }[]
  readonly isVararg: boolean
  readonly returns: readonly string[]
  readonly isVarret: boolean
}

/** `name(arguments) -> returns` in PyTorch's syntax. */
export function signatureText(name: string, schema: SchemaParts): string {
  const parts = schema.arguments.map(({ text }) => text)
  const star = schema.arguments.findIndex(({ kwargOnly }) => kwargOnly)
  if (star >= 0) parts.splice(star, 0, '*')
  if (schema.isVararg) parts.push('...')
  return `${name}(${parts.join(', ')}) -> ${returnsText(schema)}`
}

function returnsText({ returns, isVarret }: SchemaParts): string {
  if (isVarret) return '...'
  // a lone tuple needs the parentheses of the list, or it would read as several returns
  return returns.length === 1 && !returns[0]!.startsWith('(') ? returns[0]! : `(${returns.join(', ')})`
}

/** The schema in PyTorch's syntax: `aten::relu(Tensor self) -> Tensor`. */
export function schemaText(qualifiedName: string, schema: OperatorSchema): string {
  const args = schema.arguments.map((argument) => ({ text: argumentText(argument), kwargOnly: argument.kwargOnly }))
  return signatureText(qualifiedName, { ...schema, arguments: args, returns: schema.returns.map(returnText) })
}

function argumentText(argument: SchemaArgument): string {
  const text = `${argument.annotatedType} ${argument.name}`
  return argument.defaultValue === undefined ? text : `${text}=${argumentDefault(argument.type, argument.defaultValue)}`
}

function returnText(value: SchemaReturn): string {
  const text = value.annotatedType
  return value.name === null ? text : `${text} ${value.name}`
}

/** Of a sized list, n > 1 equal values are written once: `int[2] stride=1`. */
function argumentDefault(type: string, value: Value): string {
  const size = Number(/\[(\d+)\]$/.exec(type)?.[1] ?? 0)
  if (size < 2 || !Array.isArray(value) || value.length !== size || value.some((v) => v !== value[0])) return defaultText(value)
  return defaultText(value[0]!)
}

function defaultText(value: Value): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\\u000b', '\\v')
  if (value instanceof Float) return floatText(value.value)
  if (Array.isArray(value)) return `[${value.map(defaultText).join(', ')}]`
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '?'
}

/** As C++ prints a double with 17 digits: `1.`, `0.5`, `1.0000000000000001e-05`. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return `${value}.`
  const [mantissa, exponent] = value.toExponential(16).split('e') as [string, string]
  if (Number(exponent) >= -4 && Number(exponent) < 17) return withoutZeros(value.toPrecision(17))
  return `${withoutZeros(mantissa)}e${exponent[0]!}${exponent.slice(1).padStart(2, '0')}`
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
