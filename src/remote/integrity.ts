import { PtliteError } from '../../runtime/error.js'
import type { Chunks } from './chunks.js'

/** What counts bytes into a SHA-256. */
export interface Hash {
  update(bytes: Uint8Array): unknown
  /** In base64. */
  digest(): string
}

/** Of 32 bytes, whose last characters leave no bits over. */
const FORM = /^sha256-([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048])=$/

/** null for 'sha256-' and the hash in base64, as the `integrity` of a page's scripts; or what was expected. */
export function isIntegrity(value: unknown): string | null {
  return typeof value === 'string' && FORM.test(value) ? null : "'sha256-' and the hash in base64"
}

/** Throws INVALID_FILE where what was read has another hash. */
export function checkHash(hash: Hash, integrity: string): void {
  const found = `sha256-${hash.digest()}`
  if (found !== integrity)
    throw new PtliteError('INVALID_FILE', `the model is not the one that was expected: its bytes have ${found}, not ${integrity}`)
}

/** The same pieces, behind the last of which INVALID_FILE is thrown where they have another hash. */
export function hashed(chunks: Chunks, hash: Hash, integrity: string): Chunks {
  return {
    announced: chunks.announced,
    isPromised: chunks.isPromised,
    async next(spare) {
      const piece = await chunks.next(spare)
      if (piece === undefined) checkHash(hash, integrity)
      else if (piece instanceof Uint8Array) hash.update(piece)
      return piece
    },
    cancel: (reason) => chunks.cancel(reason),
  }
}
