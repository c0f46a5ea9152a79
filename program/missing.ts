import { missingOperators } from '../runtime/operators/table/missing-operator.js'
import { Opcode } from './generated/opcodes.js'
import { Calls, usersOf } from './calls.js'
import type { FunctionCode } from './code.js'
import { type LinkedFunction, STATE_METHOD } from './linked.js'

/*
 * Operators that a file names and the build lacks. What does not come to them works; a path that does ends there, as behind a raise.
 */

/** An operator that the build lacks. */
export interface MissingOperator {
  /** Qualified: `torch_scatter::scatter_max`. */
  readonly operator: string
  /** The methods whose code comes to it, or may, by themselves or by what they call; sorted. */
  readonly methods: readonly string[]
}

/** Names of the operators that functions name and the build lacks, sorted. */
export function missingIn(functions: readonly LinkedFunction[]): string[] {
  const names = functions.flatMap(({ operators, promoted }) =>
    [...operators, ...promoted.values()].flatMap(({ isMissing, qualifiedName }) => (isMissing === true ? [qualifiedName] : [])),
  )
  return [...new Set(names)].sort()
}

/** The same, with the methods of the class that need them. */
export function missingOf(functions: readonly LinkedFunction[], className: string): MissingOperator[] {
  const missing = missingIn(functions)
  if (missing.length === 0) return []
  const lacking = new Map(functions.map((fn) => [fn.source, missingIn([fn])]))
  const users = usersOf([...lacking.keys()], className, (fn) => lacking.get(fn)!)
  return missing.map((operator) => ({ operator, methods: users.get(operator) ?? [] }))
}

/**
 * Throws MISSING_OPERATOR, with all operators that the build lacks, where `forward`, or any method of a class without one, comes to one on every path: no
 * call of it can return.
 */
export function refuseUseless(functions: readonly LinkedFunction[], className: string): void {
  const missing = missingIn(functions)
  if (missing.length === 0) return
  const methods = functions.filter(({ source }) => source.className === className && !STATE_METHOD.test(source.method))
  const forward = methods.filter(({ source }) => source.method === 'forward')
  const paths = new Paths(functions)
  const isUseless = (fn: LinkedFunction): boolean => paths.isLost(fn)
  if (!(forward.length > 0 ? forward : methods).some(isUseless)) return
  const others = methods.filter((fn) => !isUseless(fn)).map(({ source }) => source.method)
  throw missingOperators(missing, others)
}

/** Follows paths from the first instruction. Either way of a branch may be taken, and a loop may run no turn. */
class Paths {
  private readonly calls: Calls
  private readonly linked: (source: FunctionCode) => LinkedFunction
  /** Those that can return. */
  private readonly returning = new Set<LinkedFunction>()
  /** Those that paths from a function come to, and whether one ends in an operator that is missing. */
  private readonly met = new Map<LinkedFunction, { readonly callees: readonly LinkedFunction[]; readonly isMissing: boolean }>()

  constructor(functions: readonly LinkedFunction[]) {
    this.calls = new Calls(functions.map(({ source }) => source))
    const bySource = new Map(functions.map((fn) => [fn.source, fn]))
    this.linked = (source) => bySource.get(source)!
    const callers = new Map<LinkedFunction, Set<LinkedFunction>>()
    // what a function waits for may be found to return, which opens paths behind the call
    const pending = new Set(functions)
    for (const fn of pending) {
      pending.delete(fn)
      if (this.returning.has(fn)) continue
      const { returns, ...met } = this.follow(fn)
      this.met.set(fn, met)
      for (const callee of met.callees) {
        const known = callers.get(callee)
        if (known === undefined) callers.set(callee, new Set([fn]))
        else known.add(fn)
      }
      if (!returns) continue
      this.returning.add(fn)
      for (const caller of callers.get(fn) ?? []) pending.add(caller)
    }
  }

  /** No call of the function returns, and some end in an operator that is missing. */
  isLost(fn: LinkedFunction): boolean {
    if (this.returning.has(fn)) return false
    const found = new Set([fn])
    for (const next of found) {
      const { callees, isMissing } = this.met.get(next)!
      if (isMissing) return true
      for (const callee of callees) found.add(callee)
    }
    return false
  }

  /** All paths through a function, as far as calls on them are known to return. */
  private follow(fn: LinkedFunction): { returns: boolean; callees: readonly LinkedFunction[]; isMissing: boolean } {
    const { code } = fn.source
    const seen = new Uint8Array(code.length / 3)
    const pending: number[] = [0]
    const callees = new Set<LinkedFunction>()
    let [returns, isMissing] = [false, false]
    while (pending.length > 0) {
      for (let pc = pending.pop()!; pc < seen.length && seen[pc] === 0; pc++) {
        seen[pc] = 1
        const [opcode, x] = [code[3 * pc]!, code[3 * pc + 1]!]
        if (opcode === Opcode.RET) returns = true
        if (opcode === Opcode.RET || opcode === Opcode.RAISE_EXCEPTION) break
        if (opcode >= Opcode.JF && opcode <= Opcode.LOOP) pending.push(pc + x)
        if (opcode === Opcode.JMP) break
        const operator = opcode <= Opcode.OPN ? fn.operators[x] : fn.promoted.get(opcode)
        isMissing ||= operator?.isMissing === true
        if (operator?.ends === true) break
        const called = this.calls.at(fn.source, pc)?.map(this.linked)
        if (called === undefined) continue
        for (const callee of called) callees.add(callee)
        // of a method that no function has the name of, nothing is known
        if (called.length > 0 && !called.some((callee) => this.returning.has(callee))) break
      }
    }
    return { returns, callees: [...callees], isMissing }
  }
}
