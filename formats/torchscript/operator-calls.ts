import type { Builder } from './builder.js'
import type { Expressions } from './expressions.js'
import type { Value } from './graph.js'
import { knownResult } from './known-results.js'
import type { FunctionUnit } from './library.js'
import { type CallArguments, type Match, matchCall } from './matching.js'
import type { Overload, Signature } from './schemas.js'
import type { Expr } from './syntax.js'
import { isTooLong, onceForEach, type Type } from './types.js'
import { upgradedInputs, versionedOverloads } from './versions.js'

/** The values of a call's arguments. */
export function argumentsOf(code: Expressions, { args, keywords }: Expr & { kind: 'call' }, self: Value | null): CallArguments {
  return {
    args: [...(self === null ? [] : [self]), ...code.items(args)],
    keywords: keywords.map(({ name, value }) => ({ name, value: code.value(value) })),
  }
}

/** Calls a method of an object of the file. */
export function callMethod(code: Expressions, self: Value, name: string, args: readonly Value[]): Value {
  const unit = code.library.findClass(self.type.text)
  const method = unit === undefined ? undefined : code.library.findMethod(unit, name)
  if (method === undefined) throw code.builder.wrong(`${self.type.text} has no method ${name}`)
  return callFunction(code, method, { args: [self, ...args], keywords: [] })
}

export function callFunction(code: Expressions, unit: FunctionUnit, call: CallArguments): Value {
  const { inputs } = matched(code, [unit], call, unit.name)
  return code.builder.add({ kind: 'call', unit }, inputs, unit.returns[0]!)
}

/** A type as instructions name it: NamedTuples with their fields. */
export function instructionType(builder: Builder, type: Type): string {
  const text = textOf(type)
  if (text === null) throw builder.wrong(`a type of too many parts: ${type.text.slice(0, 200)}`)
  return text
}

/** null where it is too long. */
const textOf = onceForEach((type): string | null => {
  if (type.args.length === 0 && type.kind !== 'NamedTuple') return type.text
  const parts: string[] = []
  let length = 0
  for (const [i, arg] of type.args.entries()) {
    const text = textOf(arg)
    if (text === null || isTooLong((length += text.length))) return null
    parts.push(type.kind === 'NamedTuple' ? `[${type.fields![i]!}, ${text}]` : text)
  }
  return type.kind === 'NamedTuple' ? `${type.text}[NamedTuple, [${parts.join(',')}]]` : `${type.kind}[${parts.join(', ')}]`
})

/** A call of an operator with arguments in order. */
export function callOperator(code: Expressions, name: string, args: readonly Value[]): Value {
  return callOperatorWith(code, name, { args, keywords: [] })
}

export function callOperatorWith(code: Expressions, name: string, call: CallArguments): Value {
  const { builder, library } = code
  if (name === 'prim::RaiseException') return raise(code, call.args)
  if (name === 'aten::wait') return call.args[0]!
  const known = knownResult(name, call.args)
  if (known !== undefined) return builder.constant(known)
  const overloads = library.schemas.overloads(OTHER_NAMES[name] ?? name)
  if (overloads.length === 0) {
    return builder.missing(name, [...call.args, ...call.keywords.map(({ value }) => value)])
  }
  return emitMatch(code, matched(code, versionedOverloads(overloads, library.operatorVersion), call, name))
}

function raise(code: Expressions, [message, className]: readonly Value[]): Value {
  const { builder } = code
  builder.node({ kind: 'RAISE_EXCEPTION' }, [message ?? builder.constant(''), className ?? builder.constant(null)])
  return builder.constant(null)
}

/** What operators of older versions are today. */
const OTHER_NAMES: Readonly<Record<string, string>> = { 'prim::shape': 'aten::size' }

function emitMatch(code: Expressions, { signature, inputs, returns }: Match<Overload>): Value {
  const { builder } = code
  const entry = builder.library.noted(signature.entry)
  if (entry.qualifiedName === 'aten::warn') {
    builder.node({ kind: 'WARN' }, inputs.length > 1 ? inputs : [...inputs, builder.constant(2)])
    return builder.constant(null)
  }
  if (entry.schema.isVarret) throw builder.unsupported(`calls of ${entry.qualifiedName} in code`)
  const node = builder.node({ kind: 'operator', entry }, upgradedInputs(builder, entry, inputs))
  const results = returns.map((type) => node.output(type))
  if (results.length === 1) return results[0]!
  // without results it is None; several are unpacked where they are assigned
  return results.length === 0 ? builder.constant(null) : builder.tuple(results)
}

/** The signature that a call means. Throws INVALID_FILE that says what there is, where none fits. */
export function matched<T extends Signature>(code: Expressions, signatures: readonly T[], call: CallArguments, name: string): Match<T> {
  const found = matchCall(code.builder, signatures, call)
  if (found !== undefined) return found
  const given = [...call.args.map(({ type }) => type.text), ...call.keywords.map((k) => `${k.name}=${k.value.type.text}`)]
  const known = signatures.map(({ args }) => `(${args.map((arg) => `${arg.type.text} ${arg.name}`).join(', ')})`)
  throw code.builder.unsupported(
    `no form of ${name} of this build takes (${given.join(', ').slice(0, 400)}); there are ${known.join(' and ').slice(0, 2000)}`,
  )
}
