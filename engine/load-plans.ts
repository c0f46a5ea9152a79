import type { AheadModule, AheadTraining } from '../formats/ptlc/module.js'
import { read, readPlans } from '../formats/ptlc/read.js'
import type { CompileMode, PassOptions } from '../compiler/index.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import { READING_MILLISECONDS } from '../runtime/limits.js'
import { TimeLimit } from '../runtime/pace.js'
import type { Engine } from './engine.js'
import { openProgramEngine } from './open-program.js'
import { type LoadOptions, warningsTo } from './options.js'
import { PlanEngine } from './plan-engine.js'
import type { ProgramEngine } from './program-engine.js'
import { incompatibility, levelsOfPlans, originalBeside } from './original.js'
import { passOptions } from './pass-options.js'
import * as features from '../runtime/features.js'
import { absent } from '../runtime/error.js'

/** Why plans are not what the caller asks for; null where they are. */
function unwanted({ plans }: AheadModule, { winograd }: PassOptions): string | null {
  const isUsed = plans.some(({ captured }) => captured.frames.some(({ layout }) => layout.option === 'winograd'))
  return isUsed && !winograd ? "its convolutions use Winograd's algorithm, which is turned off" : null
}

/**
 * What replays the plans of a `.ptlc` file; the model that it was compiled from is loaded where that is needed. Closes the source where it is not
 * used. Throws INVALID_FILE or UNSUPPORTED_FILE.
 */
export function loadPlans(source: ByteSource, options: LoadOptions): Engine {
  if (!features.ptlc) {
    source.close()
    throw absent('the reader of .ptlc files', 'UNSUPPORTED_FILE')
  }
  const time = new TimeLimit('loading the module', options.limits?.milliseconds ?? READING_MILLISECONDS)
  return time.within(() => loadNow(source, options))
}

function loadNow(source: ByteSource, options: LoadOptions): Engine {
  const warn = warningsTo(options)
  /** In the mode that the plans were made in. */
  const open = (path: string, mode: CompileMode, { set }: AheadTraining): ProgramEngine => {
    const engine = openProgramEngine(path, { ...options, compile: options.compile ?? mode, eval: false })
    if (set !== null) engine.setTraining(set)
    return engine
  }
  try {
    const passes = passOptions(options)
    const header = read(source)
    const original = originalBeside(source, header.about, (path, mode) => open(path, mode, header.about.training))
    let reason = incompatibility(header.about)
    if (reason === null) {
      const levels = levelsOfPlans(header.about)
      const ahead = readPlans(header, levels)
      reason = unwanted(ahead, passes)
      if (reason === null) {
        const warning = original.warning()
        if (warning !== null) warn(warning)
        source.checkUnchanged()
        const engine = new PlanEngine(ahead, source, original, levels, options.limits)
        if (options.eval === true) engine.setTraining(false)
        return engine
      }
    }
    const instead = original.insteadOf(reason)
    if (options.eval === true) instead.setTraining(false)
    source.close()
    return instead
  } catch (error) {
    source.close()
    throw error
  }
}
