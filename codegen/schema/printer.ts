import { signatureText } from '../../runtime/operators/table/schema-text.js'
import type { AliasInfo, Argument, DefaultValue, FunctionSchema, Return, SchemaType } from './model.js'

/** The schema as PyTorch writes it; parsing the text gives an equal schema. */
export function printSchema(schema: FunctionSchema): string {
  const namespace = schema.namespace === null ? '' : `${schema.namespace}::`
  const overload = schema.overload === '' ? '' : `.${schema.overload}`
  const args = schema.arguments.map((argument) => ({ text: printArgument(argument), kwargOnly: argument.kwargOnly }))
  return signatureText(`${namespace}${schema.name}${overload}`, { ...schema, arguments: args, returns: schema.returns.map(printReturn) })
}

export function printArgument(argument: Argument): string {
  const text = `${printType(argument.type)} ${argument.name}`
  return argument.defaultValue === null ? text : `${text}=${printDefault(argument.defaultValue)}`
}

function printReturn(value: Return): string {
  return value.name === null ? printType(value.type) : `${printType(value.type)} ${value.name}`
}

/** `withAlias` false leaves the alias annotations out. */
export function printType(type: SchemaType, withAlias = true): string {
  const alias = withAlias && type.alias !== null ? printAlias(type.alias) : ''
  switch (type.kind) {
    case 'base':
      return type.name + alias
    case 'optional':
      return `${printType(type.inner, withAlias)}?${alias}`
    case 'list':
      return `${printType(type.inner, withAlias)}[${type.size ?? ''}]${alias}`
    case 'generic':
      return `${type.name}(${type.parameters.map((p) => printType(p, withAlias)).join(', ')})${alias}`
    case 'tuple':
      return `(${type.items.map((i) => printType(i, withAlias)).join(', ')})${alias}`
  }
}

export function printAlias(alias: AliasInfo): string {
  const after = alias.after === null ? '' : ` -> ${alias.after.join('|')}`
  return `(${alias.before.join('|')}${alias.write ? '!' : ''}${after})`
}

export function printDefault(value: DefaultValue): string {
  switch (value.kind) {
    case 'none':
      return 'None'
    case 'bool':
      return value.value ? 'True' : 'False'
    case 'int':
    case 'float':
      return value.text
    case 'str':
      return value.quote + escape(value.value, value.quote) + value.quote
    case 'list':
      return `[${value.items.map(printDefault).join(',')}]`
    case 'symbol':
      return value.name
  }
}

function escape(text: string, quote: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r')
    .replaceAll('\f', '\\f')
    .replaceAll('\v', '\\v')
}
