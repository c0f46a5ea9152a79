import { argumentsOf, callOperatorWith, instructionType } from './operator-calls.js'
import { callNamed } from './sorting.js'
import type { Expressions } from './expressions.js'
import type { Value } from './graph.js'
import { attributeOf } from './members.js'
import type { Binding } from './scope.js'
import type { Expr } from './syntax.js'
import { BOOL, COMPLEX, FLOAT, INT, isSubtype, isTuple, STR, type Type, withoutNone } from './types.js'

type CallExpr = Expr & { kind: 'call' }

/** Conversions by name: the type and the operator. */
const CASTS: Readonly<Record<string, readonly [Type, string]>> = {
  int: [INT, 'aten::Int'],
  float: [FLOAT, 'aten::Float'],
  complex: [COMPLEX, 'aten::Complex'],
  bool: [BOOL, 'aten::Bool'],
  str: [STR, 'aten::str'],
}
/** Functions of Python that are operators of another namespace or name. */
const OPERATORS: Readonly<Record<string, string>> = {
  print: 'prim::Print',
  min: 'prim::min',
  max: 'prim::max',
  abs: 'prim::abs',
  unchecked_unwrap_optional: 'prim::unchecked_unwrap_optional',
}
/** Kinds of elements as TO_LIST has them. */
const ELEMENT_KINDS = [INT, FLOAT, BOOL, COMPLEX]

/** What a call of a name that every file knows gives. */
export function callSpecial(code: Expressions, name: string, call: CallExpr, hint: Type | undefined): Binding {
  const { builder } = code
  const { args } = call
  const cast = CASTS[name]
  if (cast !== undefined) return { kind: 'value', value: castTo(code, cast, call) }
  const take = (count: number): readonly Expr[] => {
    if (args.length < count) throw builder.wrong(`${name} needs ${count} arguments, found ${args.length}`)
    return args
  }
  const type = (expr: Expr): Type => code.library.typeOf(expr, builder.unit.source)
  switch (name) {
    case 'annotate': {
      const wanted = type(take(2)[0]!)
      return { kind: 'value', value: code.converted(code.value(args[1]!, wanted), wanted) }
    }
    case 'unchecked_cast': {
      const wanted = type(take(2)[0]!)
      return { kind: 'value', value: builder.operator('prim::unchecked_cast', [code.value(args[1]!, wanted)], wanted) }
    }
    case 'uninitialized':
      return { kind: 'value', value: builder.add({ kind: 'UN_INITIALIZED' }, [], type(take(1)[0]!)) }
    case 'isinstance':
      return { kind: 'value', value: isInstance(code, take(2)) }
    case 'getattr': {
      const attribute = take(2)[1]!
      if (attribute.kind !== 'constant' || typeof attribute.value !== 'string')
        throw builder.wrong('getattr needs the name of an attribute')
      return attributeOf(code, code.binding(args[0]!), attribute.value)
    }
    case 'hasattr': {
      const attribute = take(2)[1]!
      const unit = code.library.findClass(code.value(args[0]!).type.text)
      const found = attribute.kind === 'constant' && unit?.attributes.has(String(attribute.value)) === true
      return { kind: 'value', value: builder.constant(found) }
    }
    case 'tuple': {
      const value = code.value(take(1)[0]!)
      if (!isTuple(value.type)) throw builder.unsupported(`tuple() of ${value.type.text}`)
      return { kind: 'value', value }
    }
    case 'fork':
      return { kind: 'value', value: code.fork(call) }
    case 'list':
    case 'dict':
      if (args.length === 0) return { kind: 'value', value: code.value({ ...emptyLiteral(name, call.at) }, hint) }
      break
    case 'range':
      throw builder.unsupported('range() that is no loop')
  }
  return { kind: 'value', value: callNamed(code, OPERATORS[name] ?? `aten::${name}`, argumentsOf(code, call, null)) }
}

function emptyLiteral(name: 'list' | 'dict', at: number): Expr {
  return name === 'list' ? { kind: 'list', at, items: [] } : { kind: 'dict', at, keys: [], values: [] }
}

/** A value that is of the type already stays as it is. */
function castTo(code: Expressions, [type, operator]: readonly [Type, string], call: CallExpr): Value {
  const { args, keywords } = argumentsOf(code, call, null)
  if (args.length === 1 && keywords.length === 0 && args[0]!.type.kind !== 'unknown' && isSubtype(args[0]!.type, type)) return args[0]!
  return callOperatorWith(code, operator, { args, keywords })
}

function isInstance(code: Expressions, [object, classes]: readonly Expr[]): Value {
  const { builder } = code
  const value = code.value(object!)
  const exprs = classes!.kind === 'tuple' ? classes!.items : [classes!]
  const types = exprs.map((expr) => instructionType(builder, code.library.typeOf(expr, builder.unit.source)))
  return builder.add({ kind: 'ISINSTANCE', types }, [value], BOOL)
}

/** `annotate(List[List[int]], x.tolist())`: the type says how deep the list is, and of what. */
export function toList(code: Expressions, tensor: Value, type: Type | undefined): Value {
  const { builder } = code
  if (type === undefined) throw builder.wrong('tolist() needs the type of its result')
  let depth = 0
  let element = withoutNone(type)
  for (; element.kind === 'List'; element = element.args[0]!) depth++
  const kind = ELEMENT_KINDS.indexOf(element)
  if (kind < 0) throw builder.wrong(`tolist() to ${type.text}`)
  return builder.add({ kind: 'TO_LIST' }, [tensor, builder.constant(depth), builder.constant(kind)], type)
}
