import * as kernels from '../../../runtime/native/generated/kernels.js'
import { plainCrc32 } from './crc32-plain.js'

/** CRC-32 as zip and zlib compute it; `before` is that of the bytes in front. */
export function crc32(bytes: Uint8Array, before = 0): number {
  try {
    return kernels.mem_crc32({ bytes: bytes.length, before: before | 0 }, bytes) >>> 0
  } catch (cause) {
    return plainCrc32(cause, bytes, before)
  }
}
