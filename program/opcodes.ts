/**
 * The mobile instruction set, which codegen/opcodes.yaml declares. The decoder, the verifier, the disassembler and the docs all
 * read its table; the loop in execute.ts has one case per row that `runs`.
 */
import { EFFECT_LETTERS, EFFECTS, OPERAND_LETTERS, OPERANDS, ROWS } from './generated/opcodes.js'

/** What an operand of an instruction means, and how many values one takes from or leaves on the stack, in words: see codegen/opcodes.yaml. */
export type Operand = (typeof OPERANDS)[number]
export type Effect = (typeof EFFECTS)[number]

export interface OpcodeRow {
  readonly code: number
  readonly name: string
  readonly x: Operand
  readonly n: Operand
  /** Where it jumps, LOOP leaves N-2 values. */
  readonly pops: Effect
  readonly pushes: Effect
  /** False for opcodes that never occur in mobile files. */
  readonly runs: boolean
}

const LINES = ROWS.split('\n')

export const OPCODE_NAMES: readonly string[] = LINES.map((row) => row.split(' ', 1)[0]!)

/** Opcode number by name, for reading `bytecode.pkl`. */
export const OPCODE_BY_NAME: ReadonlyMap<string, number> = new Map(OPCODE_NAMES.map((name, code) => [name, code]))

/** By opcode, what number a letter of its row has in `letters`: 0 for X, 1 for N, 2 for pops, 3 for pushes. -1 for opcodes that never occur. */
export function column(place: number, letters: string): Int8Array {
  return Int8Array.from(LINES, (row) => letters.indexOf(row.split(' ')[1]?.[place] ?? ' '))
}

/** The rows in words. */
export const OPCODES: readonly OpcodeRow[] = LINES.map((row, code) => {
  const [name, letters = '--00'] = row.split(' ')
  const operand = (place: number): Operand => OPERANDS[OPERAND_LETTERS.indexOf(letters[place]!)]!
  const effect = (place: number): Effect => EFFECTS[EFFECT_LETTERS.indexOf(letters[place]!)]!
  return { code, name: name!, x: operand(0), n: operand(1), pops: effect(2), pushes: effect(3), runs: row.includes(' ') }
})
