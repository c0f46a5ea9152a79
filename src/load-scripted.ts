import { loadProgram, type ProgramFile } from '../engine/load-program.js'
import type { LoadOptions } from './module.js'
import { ScriptedModule } from './scripted-module.js'

/** Loads a model with a program from a path or bytes, or from its file where that is open. Throws PtliteError. */
export function loadScripted(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}, file?: ProgramFile): ScriptedModule {
  return new ScriptedModule(loadProgram(source, options, file), options)
}
