import { latin1TextOf } from '../../../runtime/encoding.js'
import type { ByteSource } from '../bytes.js'

/** Whether a file begins as a zip with a record does. */
export function isZip({ head }: ByteSource): boolean {
  return latin1TextOf(head).startsWith('PK\x03\x04')
}

/** In a 32-bit field: the number is in the zip64 record, or in an extra field. */
export const ELSEWHERE32 = 0xffffffff
