import { createRequire } from 'node:module'
import { PtliteError } from './error.js'

/** What a part of the built package gives to the others: functions by their position. */
type Part = readonly ((...args: never[]) => unknown)[]

/**
 * A part of the built package, which lies beside this file; loaded at its first use. Only the build (scripts/parts) writes calls of this.
 * Throws INTERNAL where the file is missing or cannot be loaded.
 */
export function part(name: string): Part {
  const file = `./${name}.cjs`
  try {
    // at once, as the call that needs it is waiting; it shares the modules that are loaded already
    return (createRequire(import.meta.url)(file) as { default: Part }).default
  } catch (cause) {
    const { message } = cause as Error
    throw new PtliteError(
      'INTERNAL',
      `cannot load ${file} of ptlite, at ${import.meta.url}: ${message}; install it again, and bundle apps from its "module" entry, which is one file`,
      { cause },
    )
  }
}
