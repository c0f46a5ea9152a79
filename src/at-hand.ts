import { fileURLToPath } from 'node:url'
import { throwIfAborted } from '../runtime/aborted.js'
import { PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import * as features from '../runtime/features.js'
import { isArrayBuffer } from '../runtime/intrinsics.js'
import { remote } from './lazy.js'
import type { SourceOptions } from './remote/node.js'
import { contentOf, type ModelSource } from './sources.js'

type Found = string | Uint8Array | ArrayBuffer

/**
 * The path or the bytes of a source, at once where it is one of these. Throws as contentOf, and INVALID_ARGUMENT for URLs of other schemes than are read; rejects with
 * ABORTED once the signal is aborted, and INVALID_FILE where the bytes are not those of `integrity`.
 */
export function atHand(source: ModelSource, options: SourceOptions = {}): Found | Promise<Found> {
  if (!features.sources) return source as Found
  if (typeof source === 'string' ? /^(https?|hf):\/\//i.test(source) : isUrl(source) && source.protocol !== 'file:')
    return remote().contentAt(source as string | URL, options)
  const found = here(source, options)
  return options.integrity === undefined ? found : remote().checked(found, options.integrity)
}

function here(source: ModelSource, options: SourceOptions): Found | Promise<Found> {
  if (typeof source === 'string' || ArrayBuffer.isView(source) || isArrayBuffer(source)) return source
  if (!isUrl(source)) return options.onProgress === undefined ? contentOf(source, options.signal) : remote().received(source, options)
  throwIfAborted(options.signal)
  return pathOf(source)
}

function isUrl(source: unknown): source is URL {
  return reading(() => source instanceof URL)
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `the URL of the model: ${(cause as Error).message}`, { cause })
  }
}
