import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type * as whole from '../../formats/ff/read.js'

export const readFlatbuffer: typeof whole.readFlatbuffer = (source) => {
  throw new PtliteError('UNSUPPORTED_FILE', `${source.label}: the reader of .ff files is not in this build${HOW_TO_EXTEND}`)
}
