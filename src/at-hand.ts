import { fileURLToPath } from 'node:url'
import { PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import * as features from '../runtime/features.js'
import { isArrayBuffer } from '../runtime/intrinsics.js'
import { contentOf, type ModelSource } from './sources.js'

type Found = string | Uint8Array | ArrayBuffer

/**
 * The path or the bytes of a source, at once where it is one of these. Throws as contentOf, and INVALID_ARGUMENT for URLs of other schemes than `file:`; rejects with the
 * signal's reason once that is aborted.
 */
export function atHand(source: ModelSource, signal?: AbortSignal): Found | Promise<Found> {
  if (!features.sources) return source as Found
  if (typeof source === 'string' || ArrayBuffer.isView(source) || isArrayBuffer(source)) return source
  if (!isUrl(source)) return contentOf(source, signal)
  signal?.throwIfAborted()
  return pathOf(source)
}

function isUrl(source: object): source is URL {
  return reading(() => source instanceof URL)
}

function pathOf(url: URL): string {
  if (url.protocol !== 'file:')
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `expected a file: URL, found ${url.protocol}; pass \`await fetch(url)\` for a model on a server`,
    )
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `the URL of the model: ${(cause as Error).message}`, { cause })
  }
}
