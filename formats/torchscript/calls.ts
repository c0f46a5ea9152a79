import type { Expressions } from './expressions.js'
import type { Value } from './graph.js'
import type { ClassUnit } from './library.js'
import type { CallArguments } from './matching.js'
import { callNamed } from './sorting.js'
import { argumentsOf, callFunction, callMethod, instructionType, matched } from './operator-calls.js'
import type { FormalArgument } from './schemas.js'
import type { Binding } from './scope.js'
import { callSpecial, toList } from './special.js'
import type { Expr } from './syntax.js'
import { type Type, UNKNOWN } from './types.js'

type CallExpr = Expr & { kind: 'call' }

/** What a call gives. */
export function callBinding(code: Expressions, callee: Binding, call: CallExpr, hint: Type | undefined): Binding {
  if (callee.kind === 'tolist') return { kind: 'value', value: toList(code, callee.self, hint) }
  return callee.kind === 'special' ? callSpecial(code, callee.name, call, hint) : { kind: 'value', value: callValue(code, callee, call) }
}

function callValue(code: Expressions, callee: Binding, call: CallExpr): Value {
  const { builder } = code
  switch (callee.kind) {
    case 'operator':
      return callNamed(code, callee.name, argumentsOf(code, call, callee.self))
    case 'function':
      return callFunction(code, callee.unit, argumentsOf(code, call, callee.self))
    case 'interface method': {
      const { inputs } = matched(code, [callee.unit], argumentsOf(code, call, callee.self), callee.unit.name)
      return builder.add({ kind: 'method', name: callee.unit.syntax.name }, inputs, callee.unit.returns[0]!)
    }
    case 'class':
      return construct(code, callee.unit, argumentsOf(code, call, null))
    case 'new':
      return builder.add({ kind: 'CREATE_OBJECT', type: callee.unit.name }, [], callee.unit.type)
    case 'value':
      if (callee.value.type === UNKNOWN) return builder.constant(null, UNKNOWN)
      if (callee.value.type.kind === 'class') return callMethod(code, callee.value, '__call__', argumentsOf(code, call, null).args)
      throw builder.wrong(`a value of type ${callee.value.type.text} cannot be called`)
    default:
      throw builder.wrong(`a ${callee.kind} cannot be called`)
  }
}

/** A new object: a NamedTuple of its fields, or what `__init__` makes of one. */
function construct(code: Expressions, unit: ClassUnit, call: CallArguments): Value {
  const { builder } = code
  const { type } = unit
  if (type.kind === 'NamedTuple') {
    const args = type.args.map((field, i): FormalArgument => {
      const value = unit.constants.get(type.fields![i]!)
      const initial = value === undefined ? undefined : code.library.constantOf(value, unit.source)
      return { name: type.fields![i]!, type: field, listSize: null, keywordOnly: false, default: initial }
    })
    const { inputs } = matched(code, [{ args, isVararg: false, returns: [type] }], call, unit.name)
    return builder.add({ kind: 'NAMED_TUPLE_CONSTRUCT', type: instructionType(builder, type) }, inputs, type)
  }
  if (type.kind !== 'class') throw builder.wrong(`${unit.name} cannot be called`)
  const object = builder.add({ kind: 'CREATE_OBJECT', type: unit.name }, [], type)
  const init = code.library.findMethod(unit, '__init__')
  if (init !== undefined) callFunction(code, init, { args: [object, ...call.args], keywords: call.keywords })
  return object
}
