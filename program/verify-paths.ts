import { CHECKED, EFFECT_LETTERS, Opcode, OPERAND_LETTERS, OperandKind, StackEffect } from './generated/opcodes.js'
import { column } from './opcodes.js'
import type { LinkedFunction } from './linked.js'

/** Kind of X by opcode; -1 for those that this leaves to others. */
const KIND = column(0, OPERAND_LETTERS).map((kind, opcode) => (kind > OperandKind.register || CHECKED.includes(opcode) ? -1 : kind))
/** No stack is as deep. */
const MAX_DEPTH = 2 ** 31 - 1

const POPS = counted(2)
const PUSHES = counted(3)

/**
 * How many values instructions take (place 2) or leave (3), three numbers by opcode: so many, and so many for each of X and of N. What a
 * schema says is more than any stack has.
 */
function counted(place: 2 | 3): Int32Array {
  const numbers = (letter: number): [number, number, number] => {
    if (letter < StackEffect.x) return [letter, 0, 0]
    if (letter === StackEffect.x) return [0, 1, 0]
    return letter < StackEffect.schema ? [letter - StackEffect.n, 0, 1] : [MAX_DEPTH, 0, 0]
  }
  return Int32Array.from([...column(place, EFFECT_LETTERS)].flatMap(numbers))
}

/**
 * What verifyFunction does at the instructions that paths come to, as long as all is well: a loop over numbers, which engines optimize in a
 * fraction of the time that they take for `check`. Notes the depth of the stack before each instruction in `depths`, where -1 means that no path has come by, and hands
 * instructions that a jump leads to to `found`. An instruction that it does not know, or finds a fault with, is handed to `check`.
 */
export function pathVerifier(
  { source: { code }, operators }: LinkedFunction,
  limits: readonly number[],
  depths: Int32Array,
  found: (pc: number) => void,
  check: (pc: number) => void,
): (pc: number, place: number) => void {
  const takes = operators.map(({ vararg, returns, ends, given }) => (vararg || returns < 0 || ends === true ? MAX_DEPTH : given))
  const leaves = operators.map(({ returns }) => returns)
  /** The instruction to be checked, or -1 where the path ends or comes to where one has been. */
  const follow = (start: number): number => {
    let depth = depths[start]!
    for (let pc = start; ; pc++) {
      const opcode = code[3 * pc]!
      const x = code[3 * pc + 1]!
      const n = code[3 * pc + 2]!
      const kind = opcode >= 0 && opcode < KIND.length ? KIND[opcode]! : -1
      if (kind < 0) return pc
      const target = kind === OperandKind.jump ? pc + x : x
      if (kind > 0 && (target < (kind === OperandKind.register ? 1 : 0) || target >= limits[kind]!)) return pc
      const row = 3 * opcode
      const pops = opcode === Opcode.OP ? takes[x]! : POPS[row]! + POPS[row + 1]! * x + POPS[row + 2]! * n
      if (pops < 0 || pops > depth) return pc
      const pushes = opcode === Opcode.OP ? leaves[x]! : PUSHES[row]! + PUSHES[row + 1]! * x + PUSHES[row + 2]! * n
      const after = depth - pops + pushes
      if (after < 0 || after >= MAX_DEPTH) return pc
      if (kind === OperandKind.jump) {
        if (depths[target] === -1) {
          depths[target] = after
          found(target)
        } else if (depths[target] !== after) return pc
      }
      if (opcode === Opcode.JMP || opcode === Opcode.RAISE_EXCEPTION) return -1
      if (depths[pc + 1] === after) return -1
      if (depths[pc + 1] !== -1) return pc
      depths[pc + 1] = depth = after
    }
  }

  return (pc, place) => {
    // what comes behind the instructions that were found are zeros
    const stop = pc > 0 || place === 0 ? follow(pc) : -1
    if (stop >= 0) check(stop)
  }
}
