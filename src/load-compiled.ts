import type { AheadModule } from '../formats/ptlc/module.js'
import { readPlans } from '../formats/ptlc/read.js'
import type { CompileMode, PassOptions } from '../compiler/index.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import type { PlanFormat } from '../formats/registry.js'
import { CompiledModule } from './compiled-module.js'
import type { InterpretedModule } from './interpreted-module.js'
import { loadScripted } from './load-scripted.js'
import type { LoadOptions, Module } from './module.js'
import { incompatibility, levelsOfPlans, originalBeside } from './original.js'
import { passOptions } from './pass-options.js'

/** Why plans are not what the caller asks for; null where they are. */
function unwanted({ plans }: AheadModule, { winograd }: PassOptions): string | null {
  const isUsed = plans.some(({ captured }) => captured.frames.some(({ layout }) => layout.name.startsWith('winograd_')))
  return isUsed && !winograd ? "its convolutions use Winograd's algorithm, which is turned off" : null
}

/**
 * The module of a `.ptlc` file; the model that it was compiled from is loaded where that is needed. Closes the source where it is not
 * used. Throws INVALID_FILE or UNSUPPORTED_FILE.
 */
export function loadCompiled(source: ByteSource, format: PlanFormat, options: LoadOptions): Module {
  const warn = options.onWarning ?? ((text: string): void => console.warn(`ptlite: ${text}`))
  const load = (path: string, mode: CompileMode): InterpretedModule => loadScripted(path, { ...options, compile: options.compile ?? mode })
  try {
    const passes = passOptions(options)
    const header = format.read(source)
    const original = originalBeside(source, header.about, load)
    let reason = incompatibility(header.about)
    if (reason === null) {
      const levels = levelsOfPlans(header.about)
      const ahead = readPlans(header, levels)
      reason = unwanted(ahead, passes)
      if (reason === null) {
        const warning = original.warning()
        if (warning !== null) warn(warning)
        source.checkUnchanged()
        return new CompiledModule(ahead, source, original, levels, options.limits)
      }
    }
    const instead = original.insteadOf(reason)
    source.close()
    return instead
  } catch (error) {
    source.close()
    throw error
  }
}
