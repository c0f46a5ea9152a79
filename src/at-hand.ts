import { types } from 'node:util'
import { contentOf, type ModelSource } from './sources.js'
import * as features from '../runtime/features.js'

type Found = string | Uint8Array | ArrayBuffer

/** The path or the bytes of a source, at once where it is one of these. Throws as contentOf, and rejects with the signal's reason once that is aborted. */
export function atHand(source: ModelSource, signal?: AbortSignal): Found | Promise<Found> {
  if (!features.sources) return source as Found
  if (typeof source === 'string' || ArrayBuffer.isView(source) || types.isArrayBuffer(source)) return source
  return contentOf(source, signal)
}
