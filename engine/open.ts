import type { ByteSource, Openable } from '../formats/containers/bytes.js'
import { OpenedFile } from '../formats/containers/opened-file.js'
import { formatOf, formatReady } from '../formats/registry.js'
import type { Steps } from '../formats/steps.js'
import type { Engine } from './engine.js'
import { plans } from './lazy.js'
import { openProgramSteps } from './open-program.js'
import { type LoadOptions, warningsTo } from './options.js'

/** What runs the model of a path or bytes, which are open, by what its format holds, step by step. Throws PtliteError, and closes the file then. */
export function* openEngine(source: Openable, options: LoadOptions, bytes: ByteSource): Steps<Engine> {
  try {
    const file = new OpenedFile(bytes, options.verify)
    const format = formatOf(file)
    yield formatReady(format)
    const engine = format.holds === 'plans' ? plans().loadPlans(bytes, options) : yield* openProgramSteps(source, options, { file, format })
    const warning = options.eval === true ? null : engine.trainingWarning(bytes.label)
    if (warning !== null) warningsTo(options)(warning)
    return engine
  } catch (error) {
    bytes.close()
    throw error
  }
}
