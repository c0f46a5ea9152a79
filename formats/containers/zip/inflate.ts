import { inflateRawSync } from 'node:zlib'

/** The `size` bytes that deflated ones stand for. A file of its own, since few records are deflated and zlib takes time to load. */
export function inflate(bytes: Buffer, size: number): Buffer {
  return inflateRawSync(bytes, { maxOutputLength: size || 1 })
}
