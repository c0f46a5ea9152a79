import { absent } from '../runtime/error.js'

/** In the place of the reader of a format that a build is without. */
export function missingReader(extension: string): never {
  throw absent(`the reader of ${extension} files`, 'UNSUPPORTED_FILE')
}
