import { type LoadOptions as ScriptLoadOptions, ScriptModule } from '../runtime/module/script-module.js'
import type { LoadOptions } from './module.js'
import { passOptions } from './pass-options.js'
import { ScriptedModule } from './scripted-module.js'

/** Loads a model with a program: a `.ptl` or `.ff` file. Throws PtliteError. */
export function loadScripted(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}): ScriptedModule {
  return new ScriptedModule(ScriptModule.load(source, scriptOptions(options)), options.compile ?? 'auto', passOptions(options))
}

function scriptOptions(options: LoadOptions): ScriptLoadOptions {
  return {
    ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
    ...(options.maxIterations === undefined ? {} : { maxIterations: options.maxIterations }),
  }
}
