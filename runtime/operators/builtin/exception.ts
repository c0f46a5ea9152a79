import { PtliteError } from '../../error.js'
import * as platform from '../../platform.js'
import type { Int } from '../../tensor/scalar.js'

/** Python's `raise`: always throws MODEL_ERROR with the message, after the name of the exception's class where it is given. */
export function raise_exception(msg: string, cls: string | null): void {
  throw new PtliteError('MODEL_ERROR', cls === null ? msg : `${cls}: ${msg}`)
}

/** Python's `warnings.warn`. */
export function warn(message: string, _stacklevel: Int): void {
  platform.warn(message)
}
