import * as kernels from '../../../runtime/native/generated/kernels.js'
import { mustBeNoLibrary } from '../no-library.js'

/** CRC-32 as zip and zlib compute it; `before` is that of the bytes in front. */
export function crc32(bytes: Uint8Array, before = 0): number {
  try {
    return kernels.mem_crc32({ bytes: bytes.length, before: before | 0 }, bytes) >>> 0
  } catch (cause) {
    return plainCrc32(cause, bytes, before)
  }
}

/** Polynomial of CRC-32 (IEEE 802.3), lowest bit first. */
const POLYNOMIAL = 0xedb88320

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0)
  return rest
})

/** CRC-32 of bytes behind those whose CRC-32 is `before`, where there is no kernel library. Throws `cause` where that is another error. */
export function plainCrc32(cause: unknown, bytes: Uint8Array, before: number): number {
  mustBeNoLibrary(cause)
  let rest = ~before
  for (const byte of bytes) rest = (rest >>> 8) ^ TABLE[(rest ^ byte) & 0xff]!
  return ~rest >>> 0
}
