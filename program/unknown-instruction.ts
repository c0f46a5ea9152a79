import { PtliteError } from '../runtime/error.js'
import type { Value } from '../runtime/tensor/value.js'
import type { FunctionCode } from './code.js'
import { unexpected } from './file-error.js'

/* Instructions that there are not. Selective builds say of others that they leave them out. */

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
