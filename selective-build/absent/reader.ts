import type { Reading } from '../../formats/reading/parsed.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'

/** Stands for the reader of a format, of programs or of plans, that a build is without. */
export function read(_file: unknown, reading?: Reading): never {
  const what = reading === undefined ? 'this format' : `${reading.format} files`
  throw new PtliteError('UNSUPPORTED_FILE', `the reader of ${what} is not in this build${HOW_TO_EXTEND}`)
}
