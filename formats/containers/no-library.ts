import { PtliteError } from '../../runtime/error.js'

/** Throws `cause` again unless it says that there is no kernel library: what a file holds can be looked at without one. */
export function mustBeNoLibrary(cause: unknown): void {
  if (!(cause instanceof PtliteError) || cause.code !== 'NATIVE_LIBRARY') throw cause
}
