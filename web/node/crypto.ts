import { sha256 } from './sha256.js'
import { Buffer } from './buffer.js'

/** What the library uses of node:crypto. */
export function randomFillSync<T extends Int32Array | BigInt64Array>(array: T): T {
  return crypto.getRandomValues(array)
}

interface Hash {
  update(data: string | Uint8Array): Hash
  digest(encoding: 'hex' | 'base64'): string
}

/** SHA-256 of one piece. */
export function createHash(_name: 'sha256'): Hash {
  let bytes: Uint8Array = Buffer.alloc(0)
  const hash: Hash = {
    update(data) {
      bytes = typeof data === 'string' ? Buffer.from(data) : data
      return hash
    },
    digest: (encoding) => Buffer.from(sha256(bytes)).toString(encoding),
  }
  return hash
}
