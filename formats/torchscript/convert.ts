import type { Builder } from './builder.js'
import type { Value } from './graph.js'
import {
  BOOL,
  COMPLEX,
  DEVICE,
  FLOAT,
  INT,
  isSubtype,
  isTuple,
  listOf,
  NONE,
  NUMBER,
  optionalOf,
  STR,
  TENSOR,
  tupleOfTypes,
  type Type,
  unify,
  withoutNone,
} from './types.js'

/** What stands for the variables of a schema. */
export type Variables = Map<string, Type>

const IMPLICIT: readonly (readonly [Type, string])[] = [
  [FLOAT, 'aten::FloatImplicit'],
  [COMPLEX, 'aten::ComplexImplicit'],
  [INT, 'aten::IntImplicit'],
  [NUMBER, 'aten::ScalarImplicit'],
]
const FROM_NUMBER: readonly (readonly [Type, string])[] = [
  [FLOAT, 'aten::Float.Scalar'],
  [COMPLEX, 'aten::Complex.Scalar'],
  [INT, 'aten::Int.Scalar'],
]

/**
 * `value` as one of `type`, where PyTorch converts it without being told to: numbers of one element to tensors only `implicitly`, as it tries
 * calls without that first. Other values come back as they are.
 */
export function convert(builder: Builder, type: Type, value: Value, implicitly: boolean): Value {
  if (type.kind === 'Optional' && value.type.kind !== 'Optional' && value.type !== NONE)
    return convert(builder, type.args[0]!, value, implicitly)
  if (type.kind === 'List' && builder.isOpenList(value)) return builder.list(type.args[0]!, [])
  if (isTuple(value.type)) {
    if (isListOf(value.type, type)) return builder.list(type.args[0]!, builder.unpackTuple(value))
    if (type.kind === 'Tuple' && !isSubtype(value.type, type) && type.args.length === value.type.args.length) {
      const items = builder.unpackTuple(value).map((item, i) => convert(builder, type.args[i]!, item, implicitly))
      return builder.tuple(items)
    }
  }
  return implicitly ? convertImplicitly(builder, type, value) : value
}

function convertImplicitly(builder: Builder, type: Type, value: Value): Value {
  if (value.type === TENSOR) {
    const name = IMPLICIT.find(([to]) => to === type)?.[1]
    return name === undefined ? value : builder.operator(name, [value], type)
  }
  if (value.type === NUMBER) {
    const name = FROM_NUMBER.find(([to]) => to === type)?.[1]
    return name === undefined ? value : builder.operator(name, [value], type)
  }
  if (value.type === BOOL) {
    if (type === FLOAT) return builder.operator('aten::Float.bool', [value], FLOAT)
    if (type === INT || type === NUMBER) return builder.operator('aten::Int.bool', [value], INT)
  }
  return value.type === STR && type === DEVICE ? builder.operator('aten::device', [value], DEVICE) : value
}

/** Whether a tuple can be given where a list of this type is asked for. */
export function isListOf(tuple: Type, list: Type): boolean {
  return list.kind === 'List' && isTuple(tuple) && tuple.args.every((item) => isSubtype(item, list.args[0]!))
}

/** The type that a schema's `formal` stands for where `actual` is given. undefined where that cannot be. */
export function bind(formal: Type, actual: Type, variables: Variables): Type | undefined {
  if (!formal.isOpen) return formal
  switch (formal.kind) {
    case 'variable': {
      const known = variables.get(formal.text)
      const bound = known === undefined ? actual : unify(known, actual)
      if (bound !== undefined) variables.set(formal.text, bound)
      return bound
    }
    case 'Optional': {
      if (actual === NONE) return hasUnbound(formal, variables) ? optionalOf(NONE) : evaluate(formal, variables)
      const inner = bind(formal.args[0]!, withoutNone(actual), variables)
      return inner === undefined ? undefined : optionalOf(inner)
    }
    case 'List':
      if (isTuple(actual)) {
        const element = actual.args.reduce<Type | undefined>((a, b) => (a === undefined ? undefined : unify(a, b)), actual.args[0])
        return element === undefined ? undefined : bound(bind(formal.args[0]!, element, variables), listOf)
      }
      return actual.kind === 'List' ? bound(bind(formal.args[0]!, actual.args[0]!, variables), listOf) : undefined
    case 'Tuple': {
      if (!isTuple(actual) || actual.args.length !== formal.args.length) return undefined
      const items = formal.args.map((item, i) => bind(item, actual.args[i]!, variables))
      return items.every((item) => item !== undefined) ? tupleOfTypes(items) : undefined
    }
    default: {
      if (actual.kind !== formal.kind) return undefined
      const parts = formal.args.map((part, i) => bind(part, actual.args[i]!, variables))
      return parts.every((part) => part !== undefined) ? evaluate(formal, variables) : undefined
    }
  }
}

function bound(type: Type | undefined, make: (type: Type) => Type): Type | undefined {
  return type === undefined ? undefined : make(type)
}

function hasUnbound(type: Type, variables: Variables): boolean {
  return type.kind === 'variable' ? !variables.has(type.text) : type.args.some((arg) => hasUnbound(arg, variables))
}

/** A type with its variables replaced; undefined where one stands for nothing. */
export function evaluate(type: Type, variables: Variables): Type | undefined {
  if (type.kind === 'variable') return variables.get(type.text)
  if (!type.isOpen) return type
  const args = type.args.map((arg) => evaluate(arg, variables))
  return args.every((arg) => arg !== undefined) ? rebuilt(type, args) : undefined
}

function rebuilt(type: Type, args: readonly Type[]): Type {
  switch (type.kind) {
    case 'List':
      return listOf(args[0]!)
    case 'Optional':
      return optionalOf(args[0]!)
    case 'Tuple':
      return tupleOfTypes(args)
    default:
      return { ...type, args, isOpen: false, text: `${type.kind}[${args.map(({ text }) => text).join(', ')}]` }
  }
}
