import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'
import type * as whole from '../../program/argument-counts.js'

export const withArgumentCounts: typeof whole.withArgumentCounts = () => {
  throw new PtliteError(
    'UNSUPPORTED_FILE',
    `files of bytecode version 4 and 5 do not say how many arguments calls give: finding that out is not in this build${HOW_TO_EXTEND}`,
  )
}
