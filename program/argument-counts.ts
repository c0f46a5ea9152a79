import { absent, PtliteError } from '../runtime/error.js'
import { earlierCounts, missingValues, otherCounts } from '../runtime/operators/table/generated/argument-history.js'
import type { Value } from '../runtime/tensor/value.js'
import { type Call, CodeReading } from './code-reading.js'
import type { LinkedFunction, LinkedOperator } from './linked.js'
import * as features from '../runtime/features.js'

/*
 * Files of bytecode version 4 and 5 hold every argument that an operator had when they were written, and do not say how many: an operator that gained
 * arguments since takes values from the stack that are not its own. The number is found by reading the code: on every path the stack has to hold
 * what is taken off it, the values have to be of the types that the schema wants, paths have to agree where they meet, and one value is left at the end. All calls of
 * an operator in a file give the same number, since one version of PyTorch wrote them.
 */

/** Instructions that are looked at before the search for a reading is given up. */
const MAX_STEPS = 1 << 22

/**
 * The functions with the numbers of arguments that their operators must have had, where that is not today's. Numbers that operators are known to
 * have had are tried first, then all that today's schemas could complete. Throws UNSUPPORTED_FILE where the code can be read in two ways, or in
 * too many to try. Code that cannot be read in any comes back as it is, for the verifier to say why.
 */
export function withArgumentCounts(functions: readonly LinkedFunction[]): readonly LinkedFunction[] {
  if (!features.argumentCounts)
    throw absent('what finds the numbers of arguments that bytecode of version 4 and 5 leaves out', 'UNSUPPORTED_FILE')
  const search = new Search(functions)
  const reading = search.reading(known, true) ?? search.reading(known, false) ?? search.reading(possible, true)
  if (reading === null) return functions
  const completed = new Map([...reading].map(([{ operator }, count]) => [operator, complete(operator, count)]))
  return functions.map((fn) => ({ ...fn, operators: fn.operators.map((operator) => completed.get(operator) ?? operator) }))
}

/** Numbers of arguments that an operator is known to have had. */
function known({ operator, total }: Call): readonly number[] {
  return [total, ...(earlierCounts[operator.qualifiedName] ?? [])]
}

/** Every number that today's schema can complete, but for those that are known to have meant something else. */
function possible({ operator, total }: Call): readonly number[] {
  const { entry, outs, qualifiedName } = operator
  const args = entry!.schema.arguments
  const counts = [total]
  for (let left = total - outs - 1; left >= 0 && args[left]!.defaultValue !== undefined; left--) counts.push(left + outs)
  return counts.filter((count) => !(otherCounts[qualifiedName] ?? []).includes(count))
}

/** Tries numbers of arguments, operator by operator in the order of the code. */
class Search {
  private readonly calls: ReadonlyMap<LinkedOperator, Call>

  constructor(private readonly functions: readonly LinkedFunction[]) {
    this.calls = callsOf(functions)
  }

  /** The numbers of arguments in the only reading there is; null if there is none. */
  reading(choices: (call: Call) => readonly number[], byKinds: boolean): ReadonlyMap<Call, number> | null {
    const counts = new Map<Call, number>()
    const candidates = new Map<Call, readonly number[]>()
    for (const call of this.calls.values()) {
      const numbers = call.isOpen ? choices(call) : [call.total]
      if (numbers.length === 1) counts.set(call, numbers[0]!)
      else candidates.set(call, numbers)
    }
    const code = new CodeReading(this.functions, this.calls, byKinds, MAX_STEPS)
    const [first, second] = this.readings(0, code, counts, candidates)
    if (second !== undefined) throw ambiguous(differences(first!, second))
    if (!code.isExhausted) return first ?? null
    if (candidates.size > 0) throw ambiguous([...candidates.keys()].map(({ operator }) => operator.qualifiedName))
    return null
  }

  /** The ways to read the functions from number `from` on, with these numbers of arguments given: two of them at most. */
  private readings(
    from: number,
    code: CodeReading,
    counts: Map<Call, number>,
    candidates: ReadonlyMap<Call, readonly number[]>,
  ): ReadonlyMap<Call, number>[] {
    for (let at = from; at < this.functions.length; at++) {
      const open = code.read(this.functions[at]!, counts, candidates)
      if (open === 'fails') return []
      if (open === null) continue
      const found: ReadonlyMap<Call, number>[] = []
      for (const count of open.counts) {
        counts.set(open.call, count)
        if (found.length < 2) found.push(...this.readings(at, code, counts, candidates))
      }
      counts.delete(open.call)
      return found
    }
    return [new Map(counts)]
  }
}

/** Operators of the functions, those that stand for several calls once. */
function callsOf(functions: readonly LinkedFunction[]): ReadonlyMap<LinkedOperator, Call> {
  const calls = new Map<LinkedOperator, Call>()
  for (const { operators, source } of functions) {
    operators.forEach((operator, i) => {
      const isOpen = source.operators[i]!.argCount < 0 && operator.entry !== null && !operator.vararg
      if (!calls.has(operator)) calls.set(operator, { operator, isOpen, total: operator.given })
    })
  }
  return calls
}

/** Operators that two readings give different numbers of arguments. */
function differences(one: ReadonlyMap<Call, number>, other: ReadonlyMap<Call, number>): string[] {
  return [...one].flatMap(([call, count]) => {
    const another = other.get(call)
    return another === undefined || another === count ? [] : `${call.operator.qualifiedName} (${count} or ${another})`
  })
}

function ambiguous(operators: readonly string[]): PtliteError {
  return new PtliteError(
    'UNSUPPORTED_FILE',
    'files of bytecode version 4 and 5 do not say how many arguments calls give, and this one can be read in several ways, of calls of ' +
      `${operators.slice(0, 10).join(', ')}; export the model again with PyTorch 1.10 or later`,
  )
}

/** The operator as calls of `count` arguments need it. */
function complete(operator: LinkedOperator, count: number): LinkedOperator {
  const { entry, outs, qualifiedName, given } = operator
  if (entry === null || count === given) return operator
  const args = entry.schema.arguments
  const defaults = missingValues[qualifiedName] ?? args.slice(count - outs, args.length - outs).map((a) => a.defaultValue as Value)
  return { ...operator, given: count, defaults }
}
