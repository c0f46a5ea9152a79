import { Float } from '../../runtime/tensor/scalar.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { Argument } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged } from '../../program/file-error.js'
import type { Scope, ValueKind } from './scope.js'

/** The type of the value that an argument has, or what else it is. */
export function typeOf(argument: Argument, scope: Scope): ValueKind | 'complex' | 'Device' | 'list' | 'enum' | 'other' {
  switch (argument.kind) {
    case 'none':
      return 'None'
    case 'tensor':
    case 'symbol':
      return scope.place(argument.name).type
    case 'constant':
      return argument.type
    case 'list':
    case 'enum':
      return argument.kind
    default:
      return 'other'
  }
}

const LIST = /^(.*)\[(\d*)\]$/

/**
 * Pushes an argument as a schema's type says: `Tensor?[]`, `SymInt[2]?`, `Scalar`. Throws INVALID_FILE where it is of another type.
 */
export function pushTyped(argument: Argument, type: string, scope: Scope, builder: CodeBuilder): void {
  if (type.endsWith('?')) {
    if (typeOf(argument, scope) === 'None') builder.constant(null)
    else pushTyped(argument, type.slice(0, -1), scope, builder)
    return
  }
  const list = LIST.exec(type)
  if (list !== null) pushList(argument, list[1]!, list[2]!, scope, builder)
  else pushItem(argument, type, scope, builder)
}

function pushList(argument: Argument, element: string, size: string, scope: Scope, builder: CodeBuilder): void {
  if (argument.kind !== 'list') {
    // one number stands for as many as a list of fixed size has
    if (size === '') throw mismatch(`${element}[]`, argument, scope)
    pushList({ kind: 'list', items: Array<Argument>(Number(size)).fill(argument) }, element, '', scope, builder)
    return
  }
  const { items } = argument
  const constants = items.map((item) => constantAs(item, element))
  if (items.length > 0 && !constants.includes(undefined)) {
    builder.constant(constants as Value[])
    return
  }
  for (const item of items) pushTyped(item, element, scope, builder)
  builder.emit('LIST_CONSTRUCT', builder.type(`List[${listElement(element)}]`), items.length)
}

/** The type text of elements as TorchScript writes it. */
function listElement(element: string): string {
  const isOptional = element.endsWith('?')
  const plain = (isOptional ? element.slice(0, -1) : element).replace(/^Sym(?=Int|Bool)/, '')
  const names: Readonly<Record<string, string>> = { Int: 'int', Bool: 'bool', Scalar: 'number', ScalarType: 'int', str: 'str' }
  const name = LIST.test(plain) ? `List[${listElement(LIST.exec(plain)![1]!)}]` : (names[plain] ?? plain)
  return isOptional ? `Optional[${name}]` : name
}

/** A constant as a value of a type; undefined for what is no constant, or of another type. */
function constantAs(argument: Argument, type: string): Value | undefined {
  if (argument.kind === 'enum') return type === argument.type || type === 'int' ? argument.value : undefined
  if (argument.kind === 'none') return type.endsWith('?') ? null : undefined
  if (argument.kind !== 'constant') return undefined
  const { value } = argument
  switch (type.replace(/\?$/, '')) {
    case 'int':
    case 'SymInt':
      return argument.type === 'int' ? value : typeof value === 'boolean' ? Number(value) : undefined
    case 'float':
    case 'SymFloat':
      return argument.type === 'float'
        ? value
        : typeof value === 'number' || typeof value === 'bigint'
          ? new Float(Number(value))
          : undefined
    case 'bool':
    case 'SymBool':
      return argument.type === 'bool' ? value : typeof value === 'number' ? value !== 0 : undefined
    case 'Scalar':
      return argument.type === 'str' || argument.type === 'Device' ? undefined : value
    case 'str':
      return argument.type === 'str' ? value : undefined
    case 'Device':
      return argument.type === 'Device' ? value : undefined
    case 'ScalarType':
    case 'Layout':
    case 'MemoryFormat':
      return undefined
    case 'Any':
    case 't':
      return value
    default:
      return undefined
  }
}

function pushItem(argument: Argument, type: string, scope: Scope, builder: CodeBuilder): void {
  const constant = constantAs(argument, type)
  if (constant !== undefined) return builder.constant(constant)
  const found = typeOf(argument, scope)
  if (argument.kind === 'tensor' || argument.kind === 'symbol') {
    const place = scope.place(argument.name)
    // what a name stands for may be a constant of the call
    if (place.kind === 'constant' && place.argument.kind !== 'none') {
      scope.drop(argument.name)
      return pushItem(place.argument, type, scope, builder)
    }
    const conversion = conversionTo(type, found)
    if (conversion !== undefined) {
      scope.push(argument.name)
      if (conversion !== '') builder.operator(conversion, 1)
      return
    }
  }
  throw mismatch(type, argument, scope)
}

/** The operator that makes a value of a type; '' where it is one; undefined where none can. */
function conversionTo(type: string, found: string): string | undefined {
  switch (type) {
    case 'Tensor':
      return found === 'Tensor' ? '' : undefined
    case 'int':
    case 'SymInt':
      return found === 'int' ? '' : found === 'bool' ? 'aten::Int.bool' : undefined
    case 'float':
    case 'SymFloat':
      return found === 'float' ? '' : found === 'int' ? 'aten::Float.int' : undefined
    case 'bool':
    case 'SymBool':
      return found === 'bool' ? '' : undefined
    case 'Scalar':
      return found === 'int' || found === 'float' || found === 'bool' ? '' : undefined
    case 'Any':
    case 't':
      return ''
    default:
      return undefined
  }
}

function mismatch(type: string, argument: Argument, scope: Scope): Error {
  return damaged(`expected ${type}, found ${typeOf(argument, scope)}`)
}

/** Pushes a value as it is: of results, and of what has no schema. */
export function pushAny(argument: Argument, scope: Scope, builder: CodeBuilder): void {
  switch (argument.kind) {
    case 'none':
      return builder.constant(null)
    case 'tensor':
    case 'symbol':
      return scope.push(argument.name)
    case 'constant':
    case 'enum':
      return builder.constant(argument.value)
    case 'list':
      for (const item of argument.items) pushAny(item, scope, builder)
      return builder.emit('LIST_CONSTRUCT', builder.type('List[Any]'), argument.items.length)
    default:
      throw damaged(`an argument of this kind (${argument.kind}) is no value`)
  }
}
