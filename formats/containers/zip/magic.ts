import type { ByteSource } from '../bytes.js'

/** Whether a file begins as a zip with a record does. */
export function isZip({ head }: ByteSource): boolean {
  return head.toString('latin1').startsWith('PK\x03\x04')
}
