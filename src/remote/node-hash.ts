import { createHash } from 'node:crypto'
import type { Hash } from './integrity.js'

/** SHA-256 as Node has it. */
export function startHash(): Hash {
  const hash = createHash('sha256')
  return { update: (bytes) => hash.update(bytes), digest: () => hash.digest('base64') }
}
