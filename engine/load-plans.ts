import type { AheadModule, AheadWeights, CacheName } from '../formats/ptlc/module.js'
import { type AheadAbout, read, readPlans } from '../formats/ptlc/read.js'
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
import { absent, PtliteError } from '../runtime/error.js'

/** Why plans are not what the caller asks for; null where they are. */
function unwanted({ plans }: AheadModule, { winograd }: PassOptions): string | null {
  const isUsed = plans.some(({ captured }) => captured.frames.some(({ layout }) => layout.option === 'winograd'))
  return isUsed && !winograd ? "its convolutions use Winograd's algorithm, which is turned off" : null
}

/** Throws INVALID_ARGUMENT where the caller asks for other weights than the file has. */
function refuseOtherWeights({ weights, group, keep, activations }: LoadOptions, found: AheadWeights | undefined): void {
  const asked = weights ?? group ?? keep ?? activations
  if (asked === undefined || (weights !== undefined && weights === found?.weights && keep === undefined)) return
  const has = found === undefined ? 'weights as its model has them' : `${found.weights} weights`
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `loadModule(): a .ptlc file has the weights that it was compiled with: ${has}; compile the model again, with --weights`,
  )
}

/** Throws INVALID_ARGUMENT where the caller asks for other caches than the file has. */
function refuseOtherCaches({ kvCache }: LoadOptions, found: CacheName | undefined): void {
  if (kvCache === undefined || kvCache === found) return
  const has = found === undefined ? 'caches as its model has them' : `${found} caches`
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `loadModule(): a .ptlc file has the caches that it was compiled with: ${has}; compile the model again, with --kv-cache`,
  )
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
  /** In the mode that the plans were made in, with their weights. */
  const open = (path: string, mode: CompileMode, { training: { set }, rounding, kvCache }: AheadAbout): ProgramEngine => {
    const engine = openProgramEngine(path, {
      ...options,
      ...rounding,
      ...(kvCache === undefined ? {} : { kvCache }),
      compile: options.compile ?? mode,
      eval: false,
    })
    if (set !== null) engine.setTraining(set)
    return engine
  }
  try {
    const passes = passOptions(options)
    const header = read(source)
    refuseOtherWeights(options, header.about.rounding)
    refuseOtherCaches(options, header.about.kvCache)
    const original = originalBeside(source, header.about, (path, mode) => open(path, mode, header.about))
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
