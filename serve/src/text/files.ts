import { readFile } from 'node:fs/promises'
import { PtliteError } from 'ptlite'

/** A JSON file beside a model. Throws INVALID_FILE for what is none. */
export async function fileOf(path: string): Promise<object> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as object
  } catch (error) {
    throw new PtliteError('INVALID_FILE', `${path.slice(path.lastIndexOf('/') + 1)} cannot be read: ${(error as Error).message}`)
  }
}
