import { readHeader, readPlans } from '../compiler/ahead/read.js'
import type { CompileMode } from '../compiler/index.js'
import type { ByteSource } from '../runtime/module/bytes.js'
import { CompiledModule } from './compiled-module.js'
import type { Module } from './module.js'
import { incompatibility, originalBeside } from './original.js'

/**
 * The module of a `.ptlc` file; `load` loads the model that it was compiled from, where that is needed. Closes the source where it is not
 * used. Throws INVALID_FILE or UNSUPPORTED_FILE.
 */
export function loadCompiled(source: ByteSource, load: (path: string, mode: CompileMode) => Module): Module {
  try {
    const header = readHeader(source)
    const original = originalBeside(source, header.about, load)
    const reason = incompatibility(header.about)
    if (reason === null) return new CompiledModule(readPlans(header), source, original)
    const instead = original.insteadOf(reason)
    source.close()
    return instead
  } catch (error) {
    source.close()
    throw error
  }
}
