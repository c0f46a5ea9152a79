import type { ByteSource } from '../formats/containers/bytes.js'
import { loadProgram } from '../engine/load-program.js'
import type { LoadOptions } from './module.js'
import { ScriptedModule } from './scripted-module.js'

/** Loads a model with a program: a `.ptl` or `.ff` file, which may be open. Throws PtliteError. */
export function loadScripted(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}, bytes?: ByteSource): ScriptedModule {
  return new ScriptedModule(loadProgram(source, options, bytes), options)
}
