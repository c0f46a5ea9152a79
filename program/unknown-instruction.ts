import { absent, PtliteError } from '../runtime/error.js'
import type { Value } from '../runtime/tensor/value.js'
import type { FunctionCode } from './code.js'
import { unexpected } from './file-error.js'
import { PLAIN } from './generated/plain-opcodes.js'
import { OPCODE_NAMES } from './opcodes.js'
import * as features from '../runtime/features.js'

/* Unknown instructions, and those that a build leaves out. */

/** An opcode that the interpreter came to, though the verifier lets none pass that it has not got. */
export function cannotRun(opcode: number): PtliteError {
  return new PtliteError('INTERNAL', `opcode ${opcode} reached the interpreter`)
}

/** An opcode in code that is verified; `instruction` is its name. */
export function unknownOpcode({ name }: FunctionCode, pc: number, instruction: string): PtliteError {
  return new PtliteError('INVALID_FILE', `${name}, instruction ${pc}: ${instruction} does not occur in mobile modules`)
}

/** A name in a file. */
export function unknownInstruction(name: Value): PtliteError {
  return unexpected('the name of an instruction', name)
}

/** Whether an instruction makes a container or an object, or takes something out of one; constants that are containers it may leave on the stack. */
export function isOfStructures(name: string): boolean {
  return !PLAIN.has(name) && name !== 'LOADC'
}

/** The names of such instructions in code, in order. */
export function* structuresIn({ code }: Pick<FunctionCode, 'code'>): Iterable<string> {
  for (let at = 0; at < code.length; at += 3) {
    const name = OPCODE_NAMES[code[at]!]
    if (name !== undefined && name !== '' && isOfStructures(name)) yield name
  }
}

/** Throws MISSING_INSTRUCTION for code that a build without structures cannot run. */
export function checkStructures(code: FunctionCode): void {
  if (features.structures) return
  for (const name of structuresIn(code)) throw absent(`the instruction ${name}`, 'MISSING_INSTRUCTION')
}
