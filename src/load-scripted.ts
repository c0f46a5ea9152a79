import type { ByteSource } from '../runtime/module/bytes.js'
import { ScriptModule } from '../runtime/module/script-module.js'
import type { LoadOptions } from './module.js'
import { ScriptedModule } from './scripted-module.js'

/** Loads a model with a program: a `.ptl` or `.ff` file, which may be open. Throws PtliteError. */
export function loadScripted(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}, bytes?: ByteSource): ScriptedModule {
  return new ScriptedModule(ScriptModule.load(source, options, bytes), options)
}
