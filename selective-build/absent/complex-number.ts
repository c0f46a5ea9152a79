import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'

/** What no value is. */
export class Complex {}

export function isComplexNumber(): boolean {
  return false
}

export function complex(): never {
  throw new PtliteError('UNSUPPORTED_DTYPE', `complex numbers are not in this build${HOW_TO_EXTEND}`)
}
