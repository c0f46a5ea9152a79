import { types } from 'node:util'
import { contentOf, type ModelSource } from './sources.js'

/** The path or the bytes of a source, at once where it is one of these. Throws as contentOf. */
export function atHand(source: ModelSource): string | Uint8Array | ArrayBuffer | Promise<string | Uint8Array | ArrayBuffer> {
  return typeof source === 'string' || ArrayBuffer.isView(source) || types.isArrayBuffer(source) ? source : contentOf(source)
}
