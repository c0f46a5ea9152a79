import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'
import type { FunctionCode } from './code.js'
import { Opcode } from './generated/opcodes.js'

const RAISE = 'prim::RaiseException'

/** An instruction that takes the value of a register which is empty on one of the paths to there. */
export interface EmptyRead {
  readonly pc: number
  readonly register: number
}

/**
 * The first instruction of a function that loads or moves what is in a register which some path to it leaves empty: nothing was stored there, or MOVE or DROPR
 * has emptied it since. null proves that there is none, whatever way jumps go. DROPR may find it empty.
 *
 * Such code runs, and finds None in the register, as PyTorch's interpreter does: PyTorch writes it where the result of a loop stays on the stack. So files
 * may have it; code that is made here may not. Operands must be in range.
 */
export function emptyReadIn(source: FunctionCode): EmptyRead | null {
  const { code } = source
  /** Registers that have a value on all paths followed so far, by instruction that jumps come back to. */
  const heads = new Map<number, Registers | null>()
  for (let at = 0; at < code.length; at += 3) if (isJump(code[at]!) && code[at + 1]! <= 0) heads.set(at / 3 + code[at + 1]!, null)
  // the sets only shrink from turn to turn
  for (;;) {
    const { found, isFinal } = follow(source, heads)
    if (found !== null || isFinal) return found
  }
}

/** A function that has been made here, and takes nothing from empty registers. Throws INTERNAL where it does: whoever made it is wrong. */
export function withoutEmptyReads(source: FunctionCode): FunctionCode {
  const found = emptyReadIn(source)
  if (found === null) return source
  throw new PtliteError('INTERNAL', `${source.name}, instruction ${found.pc}: register ${found.register} is empty on a path to here`)
}

function isJump(opcode: number): boolean {
  return opcode >= Opcode.JF && opcode <= Opcode.LOOP
}

/** Goes through the code once. It is not final where a jump back brings fewer registers than there were when the code that it leads to was gone through. */
function follow({ code, operators, registerSize }: FunctionCode, heads: Map<number, Registers | null>) {
  /** What jumps forward bring, by where they lead. */
  const waiting = new Map<number, Registers>()
  let found: EmptyRead | null = null
  let isFinal = true
  /** null where no path comes by. */
  let filled: Registers | null = new Uint32Array((registerSize >> 5) + 1)
  pace(code.length)
  for (let pc = 0; pc < code.length / 3; pc++) {
    const brought = waiting.get(pc)
    waiting.delete(pc)
    if (brought !== undefined) filled = filled === null ? brought : common(filled, brought)
    if (filled === null) continue
    const head = heads.get(pc)
    if (head !== undefined) {
      if (head !== null) common(filled, head)
      heads.set(pc, filled.slice())
    }
    const opcode = code[3 * pc]!
    const x = code[3 * pc + 1]!
    if (opcode === Opcode.LOAD || opcode === Opcode.MOVE || opcode === Opcode.DROPR) {
      if (opcode !== Opcode.DROPR && found === null && !has(filled, x)) found = { pc, register: x }
      if (opcode !== Opcode.LOAD) filled[x >> 5]! &= ~(1 << (x & 31))
    } else if (opcode === Opcode.STORE || opcode === Opcode.STOREN) {
      const end = opcode === Opcode.STORE ? x + 1 : x + code[3 * pc + 2]!
      for (let i = x; i < end; i++) filled[i >> 5]! |= 1 << (i & 31)
    } else if (isJump(opcode)) {
      const target = pc + x
      if (x > 0) {
        const others = waiting.get(target)
        waiting.set(target, others === undefined ? filled.slice() : common(others, filled))
      } else {
        const head = heads.get(target)!
        const before = head.slice()
        common(head, filled)
        isFinal &&= before.every((word, i) => word === head[i])
      }
      if (opcode === Opcode.JMP) filled = null
    } else if (opcode === Opcode.RET || opcode === Opcode.RAISE_EXCEPTION || (opcode === Opcode.OP && operators[x]!.name === RAISE)) {
      // older files raise exceptions by an operator
      filled = null
    }
  }
  return { found, isFinal }
}

/** Set bits are registers with a value. */
type Registers = Uint32Array

function has(registers: Registers, x: number): boolean {
  return (registers[x >> 5]! & (1 << (x & 31))) !== 0
}

/** Leaves in `registers` those that `others` have, too. */
function common(registers: Registers, others: Registers): Registers {
  pace(registers.length)
  for (let i = 0; i < registers.length; i++) registers[i]! &= others[i]!
  return registers
}
