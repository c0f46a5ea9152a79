import { PtliteError } from '../error.js'
import { HOLDS_TYPES } from '../held.js'
import { missingOperators } from '../operators/missing-operator.js'
import { findOperator, type OperatorEntry } from '../operators/registry.js'
import type { Value } from '../tensor/value.js'
import type { FunctionCode } from './code.js'
import { raiseTopmost } from './instructions.js'
import { ArgumentUse, type LinkedFunction, type LinkedOperator } from './program.js'
import { type NamedTuples, parseType } from './types.js'
import { upgraderFor } from './upgraders.js'

/** Operators that the instructions FORMAT, TO_LIST and NUM_TO_TENSOR stand for. */
const PROMOTED = [
  [38, 'aten::format'],
  [43, 'prim::tolist'],
  [44, 'prim::NumToTensor.Scalar'],
] as const

const RAISE = 'prim::RaiseException'

/** Operators whose results are their arguments. */
const MOVES = new Set(['prim::TupleUnpack', 'prim::unchecked_cast'])

/**
 * Resolves the operators and types of all functions of a file. Throws MISSING_OPERATOR with every operator that
 * the build lacks, not just the first. NamedTuples that the types define are added to `namedTuples`.
 */
export function linkFunctions(codes: readonly FunctionCode[], operatorVersion: number, namedTuples: NamedTuples): LinkedFunction[] {
  const missing = new Set<string>()
  const cache = new Map<string, LinkedOperator>()

  const link = (name: string, argCount: number): LinkedOperator => {
    const key = `${name} ${argCount}`
    const linked = cache.get(key) ?? linkOperator(name, argCount, operatorVersion, missing)
    cache.set(key, linked)
    return linked
  }

  const functions = codes.map((source): LinkedFunction => {
    const { code } = source
    const promoted = new Map<number, LinkedOperator>()
    for (const [opcode, name] of PROMOTED) {
      for (let at = code.indexOf(opcode); at >= 0; at = code.indexOf(opcode, at + 1)) if (at % 3 === 0) promoted.set(at, link(name, -1))
    }
    return {
      source,
      operators: source.operators.map(({ name, overload, argCount }) => link(overload === '' ? name : `${name}.${overload}`, argCount)),
      types: source.types.map((text) => (HOLDS_TYPES ? parseType(text, namedTuples) : { name: text, args: [] })),
      promoted,
    }
  })
  if (missing.size > 0) throw missingOperators([...missing].sort())
  return functions
}

const UNRESOLVED: LinkedOperator = {
  qualifiedName: '',
  entry: null,
  call: () => undefined,
  given: 0,
  defaults: null,
  outs: 0,
  use: ArgumentUse.read,
  vararg: false,
  returns: 0,
}

function linkOperator(name: string, argCount: number, operatorVersion: number, missing: Set<string>): LinkedOperator {
  // files disagree on how many arguments it has, and some say it wrong; the stack tells
  if (name === RAISE) return { ...UNRESOLVED, qualifiedName: name, call: raiseTopmost, given: argCount < 0 ? 1 : argCount }
  const upgrader = upgraderFor(name, operatorVersion)
  if (upgrader !== undefined) {
    const entries = upgrader.uses.map((use) => findOrNote(use, missing)).filter((entry) => entry !== undefined)
    const given = argCount < 0 ? upgrader.argCount : argCount
    return {
      ...UNRESOLVED,
      qualifiedName: name,
      call: (stack) => upgrader.run(stack, entries),
      given,
      defaults: given < upgrader.argCount ? filled(entries[0], given, upgrader.argCount, upgrader.defaults) : null,
      returns: 1,
    }
  }
  const entry = findOrNote(name, missing)
  return entry === undefined ? UNRESOLVED : linkEntry(entry, argCount)
}

function findOrNote(name: string, missing: Set<string>): OperatorEntry | undefined {
  const entry = findOperator(name)
  if (entry === undefined) missing.add(name)
  return entry
}

/** Old defaults for what the call leaves out: all None but for those the old operator declares otherwise. */
function filled(entry: OperatorEntry | undefined, given: number, argCount: number, declared: readonly Value[]): Value[] {
  const args = entry?.schema.arguments ?? []
  return Array.from({ length: argCount - given }, (_, i) => declared[i] ?? args[given + i]?.defaultValue ?? null)
}

function linkEntry(entry: OperatorEntry, argCount: number): LinkedOperator {
  const { schema, qualifiedName } = entry
  const total = schema.arguments.length
  const outs = schema.arguments.filter((arg) => arg.isOut).length
  const given = argCount < 0 || schema.isVararg ? total : argCount
  if (given > total) {
    throw new PtliteError('INVALID_FILE', `${qualifiedName} takes ${total} arguments, the file gives ${given}`)
  }
  const omitted = schema.arguments.slice(given - outs, total - outs)
  const without = omitted.find((arg) => arg.defaultValue === undefined)
  if (given < total && without !== undefined) {
    throw new PtliteError('INVALID_FILE', `the file leaves out argument '${without.name}' of ${qualifiedName}, which has no default`)
  }
  return {
    qualifiedName,
    entry,
    call: (stack) => entry.call(stack),
    given,
    defaults: given === total ? null : omitted.map((arg) => arg.defaultValue as Value),
    outs,
    use: MOVES.has(qualifiedName) ? ArgumentUse.move : keepsArguments(entry) ? ArgumentUse.keep : ArgumentUse.read,
    vararg: schema.isVararg,
    returns: schema.isVarret ? -1 : schema.returns.length,
  }
}

/** Operators on containers of anything may store an argument or hand out an element. */
function keepsArguments(entry: OperatorEntry): boolean {
  return entry.schema.arguments.some((arg) => /^(t|tKey|tVal|Any|AnyListType|AnyClassType)\b|^Dict\(|^\(/.test(arg.type))
}
