import type { Value } from '../runtime/tensor/value.js'
import type { FunctionCode, OperatorName } from './code.js'
import { OPCODE_BY_NAME } from './opcodes.js'

const JUMPS: ReadonlySet<number> = new Set(['JF', 'JMP', 'LOOP'].map((name) => OPCODE_BY_NAME.get(name)!))

/** An instruction. */
export function instruction(name: string, x: number, n = 0): number[] {
  return [OPCODE_BY_NAME.get(name)!, x, n]
}

/** The code of a function with others in the place of some of its instructions. */
export class CodeEditor {
  private readonly operators: OperatorName[]
  private readonly constants: Value[]
  private readonly constantAt = new Map<Value, number>()
  private readonly unboundedAt = new Map<number, number>()
  private readonly parts: number[][]

  constructor(private readonly source: FunctionCode) {
    this.operators = [...source.operators]
    this.constants = [...source.constants]
    this.parts = Array.from({ length: source.code.length / 3 }, (_, pc) => this.at(pc))
  }

  /** The instruction that the function has there. */
  at(pc: number): number[] {
    return [...this.source.code.subarray(3 * pc, 3 * pc + 3)]
  }

  replace(pc: number, part: number[]): void {
    this.parts[pc] = part
  }

  /** Replaces constants. */
  mapConstants(change: (value: Value) => Value): void {
    for (const [i, value] of this.source.constants.entries()) this.constants[i] = change(value)
  }

  call(operator: OperatorName): number[] {
    const known = this.operators.indexOf(operator)
    return instruction('OP', known >= 0 ? known : this.operators.push(operator) - 1)
  }

  /** A call of the function as one whose results may have any sizes. */
  unbounded([opcode, x, n]: readonly number[]): number[] {
    const { bounds, ...plain } = this.operators[x!]!
    if (bounds === undefined) return [opcode!, x!, n!]
    const known = this.unboundedAt.get(x!) ?? this.operators.push(plain) - 1
    this.unboundedAt.set(x!, known)
    return [opcode!, known, n!]
  }

  /** Loads a value, which is added where it was not loaded so before. */
  constant(value: Value): number[] {
    const known = this.constantAt.get(value) ?? this.constants.push(value) - 1
    this.constantAt.set(value, known)
    return instruction('LOADC', known)
  }

  /** The function, with `added` registers behind its own. */
  finish(added: number): FunctionCode {
    const { source, parts } = this
    const starts = [0]
    for (const part of parts) starts.push(starts.at(-1)! + part.length / 3)
    const code = parts.flatMap((part, pc) => {
      if (part.length !== 3 || !JUMPS.has(part[0]!)) return part
      return [part[0]!, starts[pc + part[1]!]! - starts[pc]!, part[2]!]
    })
    return {
      ...source,
      code: Int32Array.from(code),
      operators: this.operators,
      constants: this.constants,
      registerSize: source.registerSize + added,
      debugHandles: undefined,
    }
  }
}
