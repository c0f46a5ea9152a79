import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'
import { missingOperators } from '../runtime/operators/table/missing-operator.js'
import { findOperator, type OperatorEntry } from '../runtime/operators/table/registry.js'
import type { Value } from '../runtime/tensor/value.js'
import { withArgumentCounts } from './argument-counts.js'
import { boundedOperator } from './bounded-operator.js'
import type { FunctionCode } from './code.js'
import { type LinkedFunction, type LinkedOperator, standIn, ArgumentUse } from './linked.js'
import { raiseTopmost } from './raise.js'
import { type NamedTuples, parseType } from './types.js'
import { isPromoted, PROMOTED } from './generated/opcodes.js'
import { missingIn } from './missing.js'
import { upgradedOperator, upgraderFor } from './upgraders.js'
import { MOVES } from '../runtime/operators/table/generated/moves.js'
import * as features from '../runtime/features.js'

const NONE: ReadonlyMap<number, LinkedOperator> = new Map()

const RAISE = 'prim::RaiseException'

/**
 * Resolves the operators and types of all functions of a file. Throws MISSING_OPERATOR with every operator that the build lacks, unless it `mayLack` some,
 * which throw when they are called. NamedTuples that the types define are added to `namedTuples`.
 */
export function linkFunctions(
  codes: readonly FunctionCode[],
  operatorVersion: number,
  namedTuples: NamedTuples,
  mayLack = false,
): readonly LinkedFunction[] {
  const cache = new Map<string, LinkedOperator>()

  const link = (name: string, argCount: number): LinkedOperator => {
    const key = `${name} ${argCount}`
    const linked = cache.get(key) ?? linkOperator(name, argCount, operatorVersion)
    cache.set(key, linked)
    return linked
  }

  const functions = codes.map((source): LinkedFunction => {
    pace(source.code.length + 64 * source.types.length)
    return {
      source,
      operators: source.operators.map(({ name, overload, argCount, bounds }) => {
        const linked = link(overload === '' ? name : `${name}.${overload}`, argCount)
        return features.pte && bounds !== undefined && linked.isMissing !== true ? boundedOperator(linked, bounds) : linked
      }),
      types: source.types.map((text) => parseType(text, namedTuples)),
      promoted: source.code.some(standsForOperator) ? promotedIn(source.code, link) : NONE,
    }
  })
  if (!mayLack) {
    const missing = missingIn(functions)
    if (missing.length > 0) throw missingOperators(missing)
  }
  // files of bytecode version 4 and 5 do not say how many arguments operators have; later ones say it of all but those that take any number
  const areOpen = functions.some(({ source, operators }) =>
    source.operators.some(({ argCount }, i) => argCount < 0 && operators[i]!.entry?.schema.isVararg === false),
  )
  return areOpen ? withArgumentCounts(functions) : functions
}

/** An instruction that stands for an operator, among words of code. */
function standsForOperator(word: number, at: number): boolean {
  return at % 3 === 0 && isPromoted(word)
}

function promotedIn(code: Int32Array, link: (name: string, argCount: number) => LinkedOperator): Map<number, LinkedOperator> {
  // `indexOf` is quicker than a loop that has not been optimized; most of what it finds are operands
  const occurs = (opcode: number): boolean => {
    for (let at = code.indexOf(opcode); at >= 0; at = code.indexOf(opcode, at + 1)) if (at % 3 === 0) return true
    return false
  }
  const opcodes = Object.keys(PROMOTED).map(Number).filter(occurs)
  return new Map(opcodes.map((opcode) => [opcode, link(PROMOTED[opcode]!, -1)]))
}

function linkOperator(name: string, argCount: number, operatorVersion: number): LinkedOperator {
  // files disagree on how many arguments it has, and some say it wrong; the stack tells
  if (name === RAISE) return { ...standIn(name, argCount < 0 ? 1 : argCount, raiseTopmost, 0), ends: true }
  const lacking = upgraderFor(name, operatorVersion)?.uses.find((used) => findOperator(used) === undefined)
  const upgraded =
    lacking === undefined ? upgradedOperator(name, argCount, operatorVersion, (used) => linkEntry(findOperator(used)!, -1)) : undefined
  if (upgraded !== undefined) return upgraded
  const entry = lacking === undefined ? findOperator(name) : undefined
  return entry === undefined ? missingOperator(lacking ?? name, argCount) : linkEntry(entry, argCount)
}

/** What stands for an operator that the build lacks. */
function missingOperator(name: string, argCount: number): LinkedOperator {
  const call = (): never => {
    throw missingOperators([name])
  }
  return { ...standIn(name, Math.max(argCount, 0), call, 0), ends: true, isMissing: true }
}

/** The operator of an entry, given so many arguments; -1 for all of them. */
export function linkEntry(entry: OperatorEntry, argCount: number): LinkedOperator {
  const { schema, qualifiedName } = entry
  const total = schema.arguments.length
  const outs = schema.arguments.filter((arg) => arg.isOut).length
  const given = argCount < 0 || schema.isVararg ? total : argCount
  const omitted = schema.arguments.slice(given - outs, total - outs)
  if (given > total || given < outs)
    throw new PtliteError('INVALID_FILE', `${qualifiedName} takes ${total} arguments, the file gives ${given}`)
  const defaults = omitted.map(({ name, defaultValue }): Value => {
    if (defaultValue !== undefined) return defaultValue
    throw new PtliteError('INVALID_FILE', `the file leaves out argument '${name}' of ${qualifiedName}, which has no default`)
  })
  return {
    qualifiedName,
    entry,
    call: (stack) => entry.call(stack),
    given,
    defaults: given < total ? defaults : null,
    outs,
    use: useOf(entry),
    vararg: schema.isVararg,
    returns: schema.isVarret ? -1 : schema.returns.length,
  }
}

/** What becomes of an operator's arguments. */
function useOf({ qualifiedName, schema }: OperatorEntry): ArgumentUse {
  if (!features.containers) return ArgumentUse.read
  if (MOVES.includes(qualifiedName)) return ArgumentUse.move
  // operators on containers of anything may store an argument or hand out an element
  const keeps = schema.arguments.some((arg) => /^(t|tKey|tVal|Any|AnyListType|AnyClassType)\b|^Dict\(|^\(/.test(arg.type))
  return keeps ? ArgumentUse.keep : ArgumentUse.read
}
