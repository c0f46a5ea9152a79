import { setTrapHandler, TRAP } from '../../interpreter/watchers.js'
import { OPCODES } from '../../program/opcodes.js'
import type { LinkedFunction } from '../../program/linked.js'

interface Watched {
  readonly fn: LinkedFunction
  /** The code as it was. */
  readonly original: Int32Array
}

const OPERATOR_INSTRUCTIONS = new Set([0, 1])
const NAMES: ReadonlyMap<number, string> = new Map(OPCODES.map((row) => [row.code, row.name]))

/** What one function reached. */
export interface FunctionCoverage {
  readonly name: string
  readonly instructions: number
  readonly reached: number
  /** Ranges of instructions that never ran, both ends included. */
  readonly gaps: readonly (readonly [first: number, last: number])[]
}

/**
 * Finds out which instructions run, by putting a trap in the place of each one; a trap that is reached makes room for the instruction
 * again, so that every instruction costs something once.
 */
export class InstructionCoverage {
  private readonly watched = new Map<Int32Array, Watched>()

  start(): void {
    setTrapHandler((code, at) => {
      code[at] = this.watched.get(code)!.original[at]!
    })
  }

  /** Puts the instructions back that were not reached. Coverage stays. */
  stop(): void {
    for (const [code, { original }] of this.watched) {
      const reached = code.slice()
      code.set(original)
      this.reachedCode.set(code, reached)
    }
    setTrapHandler(null)
  }

  private readonly reachedCode = new Map<Int32Array, Int32Array>()

  watch(functions: readonly LinkedFunction[]): void {
    for (const fn of functions) {
      const { code } = fn.source
      if (this.watched.has(code)) continue
      this.watched.set(code, { fn, original: code.slice() })
      for (let at = 0; at < code.length; at += 3) code[at] = TRAP
    }
  }

  of(fn: LinkedFunction): FunctionCoverage {
    const { code } = fn.source
    const marks = this.reachedCode.get(code) ?? code
    const gaps: [number, number][] = []
    let reached = 0
    for (let pc = 0; 3 * pc < marks.length; pc++) {
      if (marks[3 * pc] !== TRAP) reached++
      else if (gaps.length > 0 && gaps.at(-1)![1] === pc - 1) gaps.at(-1)![1] = pc
      else gaps.push([pc, pc])
    }
    return { name: fn.source.name, instructions: marks.length / 3, reached, gaps }
  }

  /** Operators whose instructions ran. */
  operators(): Set<string> {
    const names = new Set<string>()
    this.visit((fn, code, at) => {
      if (OPERATOR_INSTRUCTIONS.has(code[at]!)) names.add(fn.operators[code[at + 1]!]!.qualifiedName)
      const promoted = fn.promoted.get(code[at]!)
      if (promoted !== undefined) names.add(promoted.qualifiedName)
    })
    return names
  }

  /** Names of the instructions that ran. */
  instructions(): Set<string> {
    const names = new Set<string>()
    this.visit((_fn, code, at) => names.add(NAMES.get(code[at]!) ?? String(code[at])))
    return names
  }

  private visit(see: (fn: LinkedFunction, code: Int32Array, at: number) => void): void {
    for (const [code, { fn }] of this.watched) {
      const marks = this.reachedCode.get(code) ?? code
      for (let at = 0; at < marks.length; at += 3) if (marks[at] !== TRAP) see(fn, marks, at)
    }
  }
}
