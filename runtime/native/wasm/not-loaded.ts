import { PtliteError } from '../../error.js'

/** Errors of calls that come too early to something that can be waited for, and the part of the library that it is. */
const parts = new WeakMap<object, string>()

/** The error for a call that needs a part whose file has not been loaded. */
export function notLoaded(part: string, file: string): PtliteError {
  const error = new PtliteError(
    'NATIVE_LIBRARY',
    `this needs a part of ptlite that has not been loaded yet (${file}): \`await ready()\` of 'ptlite/web' first, or \`await ready({ for: [...] })\` with the names of the operators and functions that are called outside of models`,
  )
  parts.set(error, part)
  return error
}

/** The part that the error is for; undefined for other errors. */
export function missingPart(error: unknown): string | undefined {
  return parts.get(error as object)
}
