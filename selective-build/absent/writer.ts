import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'
import type { ProgramWriter } from '../../formats/writing/program-writer.js'

const write: ProgramWriter = () => {
  throw new PtliteError('UNSUPPORTED_FILE', `writing model files is not in this build${HOW_TO_EXTEND}`)
}

export { write as writePtl, write as writeFf }
