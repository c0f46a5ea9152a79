import { openProgram } from '../../formats/read.js'
import { allSteps } from '../../formats/steps.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'
import type * as whole from '../../engine/open-program.js'

/** Builds for files that were compiled ahead replay plans: they have neither interpreter nor operators. */
export const openProgramSteps: typeof whole.openProgramSteps = (_source, _options, { file: { source } }) => {
  source.close()
  throw new PtliteError('UNSUPPORTED_FILE', `${source.label}: the interpreter is not in this build, which runs .ptlc files${HOW_TO_EXTEND}`)
}

export const openProgramEngine: typeof whole.openProgramEngine = (source, options = {}) =>
  allSteps(openProgramSteps(source, options, openProgram(source)))
