import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'

/** Stands where code was that no traced model came to. */
export function missingPart(name: string): never {
  throw new PtliteError('UNSUPPORTED_FILE', `this needs ${name}, which no traced model came to: it is not in this build${HOW_TO_EXTEND}`)
}
