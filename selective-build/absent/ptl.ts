import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type * as whole from '../../formats/ptl/read.js'

export const readArchive: typeof whole.readArchive = (source) => {
  throw new PtliteError('UNSUPPORTED_FILE', `${source.label}: the reader of .ptl files is not in this build${HOW_TO_EXTEND}`)
}
