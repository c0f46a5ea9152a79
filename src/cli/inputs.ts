import { readFileSync } from 'node:fs'
import { PtliteError } from '../../runtime/error.js'
import type { Input } from '../index.js'
import { fromJson, parseJson } from './json-values.js'
import { npyToTensor, readNpy } from './npy.js'

/**
 * Arguments from files, one per file in order; a JSON object with `args` holds several. Throws PtliteError naming the file.
 */
export function readInputs(files: readonly string[]): Input[] {
  return files.flatMap(readInput)
}

function readInput(file: string): Input[] {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
  // the content tells, as it does for models: a .npy file never begins as JSON does
  if (bytes[0] === 0x93 || file.endsWith('.npy')) return [withName(file, () => npyToTensor(readNpy(bytes)))]
  const json = parseJson(new TextDecoder().decode(bytes), file)
  if (json !== null && typeof json === 'object' && !Array.isArray(json) && Array.isArray(json.args)) {
    return json.args.map((item, i) => withName(file, () => fromJson(item, `args[${i}]`)))
  }
  return [withName(file, () => fromJson(json, 'value'))]
}

function withName<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof PtliteError) throw new PtliteError(error.code, `${file}: ${error.message}`, { cause: error })
    throw error
  }
}
