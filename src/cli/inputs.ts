import { readFileSync } from 'node:fs'
import { openSource } from '../../formats/containers/bytes.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { PtliteError } from '../../runtime/error.js'
import type { Input } from '../index.js'
import { fromJson, parseJson } from './json-values.js'
import { npyToTensor, readNpy } from './npy.js'

/**
 * Arguments from files, one per file in order; a `.npz` file and a JSON object with `args` hold several. Throws PtliteError naming the file.
 */
export function readInputs(files: readonly string[]): Input[] {
  return files.flatMap((file) => readInput(file, readFile(file)))
}

/** Throws INVALID_FILE where it cannot be read. */
export function readFile(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

/** The arguments in the bytes of a file. */
export function readInput(file: string, bytes: Uint8Array): Input[] {
  // the content tells, as it does for models: a .npy file never begins as JSON does
  if (bytes[0] === 0x93 || file.endsWith('.npy')) return [withName(file, () => npyToTensor(readNpy(bytes)))]
  if (file.endsWith('.npz') || (bytes[0] === 0x50 && bytes[1] === 0x4b)) return readNpz(file, bytes)
  const json = parseJson(new TextDecoder().decode(bytes), file)
  if (json !== null && typeof json === 'object' && !Array.isArray(json) && Array.isArray(json.args)) {
    return json.args.map((item, i) => withName(file, () => fromJson(item, `args[${i}]`)))
  }
  return [withName(file, () => fromJson(json, 'value'))]
}

/** The arrays of NumPy's `savez` and `savez_compressed`, in the order of the file. */
function readNpz(file: string, bytes: Uint8Array): Input[] {
  const zip = withName(file, () => new ZipArchive(openSource(bytes)))
  const names = zip.recordNames().filter((name) => name.endsWith('.npy'))
  if (names.length === 0) throw new PtliteError('INVALID_FILE', `${file}: a zip without .npy arrays is no .npz file`)
  return names.map((name) => withName(`${file}, ${name}`, () => npyToTensor(readNpy(zip.contentOf(name)))))
}

/** What `read` gives, or its error with the name of the file; of a promise, too. */
export function withName<T>(file: string, read: () => T): T {
  const named = (error: unknown): unknown =>
    error instanceof PtliteError ? new PtliteError(error.code, `${file}: ${error.message}`, { cause: error }) : error
  try {
    const result = read()
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw named(error)
    }) as T
  } catch (error) {
    throw named(error)
  }
}
