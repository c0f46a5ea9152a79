import type { AheadModule } from '../compiler/ahead/module.js'
import { readHeader, readPlans } from '../compiler/ahead/read.js'
import type { CompileMode, PassOptions } from '../compiler/index.js'
import type { ByteSource } from '../runtime/module/bytes.js'
import { CompiledModule } from './compiled-module.js'
import type { Module } from './module.js'
import { incompatibility, originalBeside } from './original.js'

/** Why plans are not what the caller asks for; null where they are. */
function unwanted({ plans }: AheadModule, { winograd }: PassOptions): string | null {
  const isUsed = plans.some(({ captured }) => captured.frames.some(({ layout }) => layout.name.startsWith('winograd_')))
  return isUsed && !winograd ? "its convolutions use Winograd's algorithm, which is turned off" : null
}

/**
 * The module of a `.ptlc` file; `load` loads the model that it was compiled from, where that is needed. Closes the source where it is not
 * used. Throws INVALID_FILE or UNSUPPORTED_FILE.
 */
export function loadCompiled(source: ByteSource, options: PassOptions, load: (path: string, mode: CompileMode) => Module): Module {
  try {
    const header = readHeader(source)
    const original = originalBeside(source, header.about, load)
    let reason = incompatibility(header.about)
    if (reason === null) {
      const ahead = readPlans(header)
      reason = unwanted(ahead, options)
      if (reason === null) return new CompiledModule(ahead, source, original)
    }
    const instead = original.insteadOf(reason)
    source.close()
    return instead
  } catch (error) {
    source.close()
    throw error
  }
}
