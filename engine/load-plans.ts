import type { AheadModule } from '../formats/ptlc/module.js'
import { readPlans } from '../formats/ptlc/read.js'
import type { CompileMode, PassOptions } from '../compiler/index.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import type { PlanFormat } from '../formats/registry.js'
import type { Engine } from './engine.js'
import { openProgramEngine } from './open-program.js'
import type { LoadOptions } from './options.js'
import { PlanEngine } from './plan-engine.js'
import type { ProgramEngine } from './program-engine.js'
import { incompatibility, levelsOfPlans, originalBeside } from './original.js'
import { passOptions } from './pass-options.js'

/** Why plans are not what the caller asks for; null where they are. */
function unwanted({ plans }: AheadModule, { winograd }: PassOptions): string | null {
  const isUsed = plans.some(({ captured }) => captured.frames.some(({ layout }) => layout.option === 'winograd'))
  return isUsed && !winograd ? "its convolutions use Winograd's algorithm, which is turned off" : null
}

/**
 * What replays the plans of a `.ptlc` file; the model that it was compiled from is loaded where that is needed. Closes the source where it is not
 * used. Throws INVALID_FILE or UNSUPPORTED_FILE.
 */
export function loadPlans(source: ByteSource, format: PlanFormat, options: LoadOptions): Engine {
  const warn = options.onWarning ?? ((text: string): void => console.warn(`ptlite: ${text}`))
  const load = (path: string, mode: CompileMode): ProgramEngine => openProgramEngine(path, { ...options, compile: options.compile ?? mode })
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
        return new PlanEngine(ahead, source, original, levels, options.limits)
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
