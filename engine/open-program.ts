import type { ProgramFile } from '../formats/read.js'
import { loadProgram } from './load-program.js'
import type { LoadOptions } from './options.js'
import { ProgramEngine } from './program-engine.js'

/** What runs the program of a path or bytes, or of its file where that is open. Throws PtliteError. */
export function openProgramEngine(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}, file?: ProgramFile): ProgramEngine {
  return new ProgramEngine(loadProgram(source, options, file), options)
}
