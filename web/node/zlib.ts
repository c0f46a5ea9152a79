import { Buffer } from './buffer.js'
import { inflateRaw } from './inflate.js'

/** What the library uses of node:zlib. */
export function inflateRawSync(bytes: Uint8Array, { maxOutputLength }: { readonly maxOutputLength: number }): Buffer {
  return Buffer.from(inflateRaw(bytes, maxOutputLength).buffer)
}
