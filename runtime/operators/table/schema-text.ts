import { Float } from '../../tensor/scalar.js'
import type { Value } from '../../tensor/value.js'
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
  const text = `${argument.annotatedType} ${argument.name}`
  return argument.defaultValue === undefined ? text : `${text}=${argumentDefault(argument.type, argument.defaultValue)}`
}

function returnsText(schema: OperatorSchema): string {
  if (schema.isVarret) return '...'
  const texts = schema.returns.map(returnText)
  return texts.length === 1 && !texts[0]!.startsWith('(') ? texts[0]! : `(${texts.join(', ')})`
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
