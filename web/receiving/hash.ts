import { sha256 } from '@noble/hashes/sha2.js'
import type { Hash } from '../../src/remote/integrity.js'

/** SHA-256 of bytes that come in pieces: that of browsers takes all at once, and pages without a secure context have none. */
export function startHash(): Hash {
  const hash = sha256.create()
  return { update: (bytes) => hash.update(bytes), digest: () => btoa(String.fromCharCode(...hash.digest())) }
}
