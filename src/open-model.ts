import type { ByteSource } from '../formats/containers/bytes.js'
import { OpenedFile } from '../formats/containers/opened-file.js'
import { formatOf } from '../formats/registry.js'
import { loadCompiled } from './load-compiled.js'
import { loadScripted } from './load-scripted.js'
import type { LoadOptions, Module } from './module.js'

/** Loads the model of a path or bytes, which are open, by what its format holds. Throws PtliteError, and closes the file then. */
export function openModel(source: string | Uint8Array | ArrayBuffer, options: LoadOptions, bytes: ByteSource): Module {
  try {
    const file = new OpenedFile(bytes, options.verify)
    const format = formatOf(file)
    return format.holds === 'plans' ? loadCompiled(bytes, format, options) : loadScripted(source, options, { file, format })
  } catch (error) {
    bytes.close()
    throw error
  }
}
