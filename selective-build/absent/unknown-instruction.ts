import { unexpected } from '../../program/file-error.js'
import { OPCODE_NAMES } from '../../program/opcodes.js'
import type * as whole from '../../program/unknown-instruction.js'
import { absent, type PtliteError } from '../../runtime/error.js'

export const cannotRun: typeof whole.cannotRun = (opcode) => missing(OPCODE_NAMES[opcode]!)
export const unknownOpcode: typeof whole.unknownOpcode = (_source, _pc, instruction) => missing(instruction)
export const unknownInstruction: typeof whole.unknownInstruction = (name) =>
  typeof name === 'string' ? missing(name) : unexpected('the name of an instruction', name)

function missing(name: string): PtliteError {
  return absent(`the instruction ${name}`, 'MISSING_INSTRUCTION')
}
