import { inflateRawSync } from 'node:zlib'

/** The `size` bytes that deflated ones stand for. A file of its own, since few records are deflated and zlib takes time to load; in browsers web/platform/inflate.ts stands for it. */
export function inflate(bytes: Uint8Array, size: number): Uint8Array {
  return inflateRawSync(bytes, { maxOutputLength: size || 1 })
}
