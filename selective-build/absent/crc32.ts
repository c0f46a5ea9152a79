import * as kernels from '../../runtime/native/generated/kernels.js'

/** Of a build that always has its kernel library. */
export function crc32(bytes: Uint8Array, before = 0): number {
  return kernels.mem_crc32({ bytes: bytes.length, before: before | 0 }, bytes) >>> 0
}
