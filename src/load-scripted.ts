import { ScriptModule } from '../runtime/module/script-module.js'
import type { LoadOptions } from './module.js'
import { ScriptedModule } from './scripted-module.js'

/** Loads a model with a program: a `.ptl` or `.ff` file. Throws PtliteError. */
export function loadScripted(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}): ScriptedModule {
  return new ScriptedModule(ScriptModule.load(source, options), options)
}
