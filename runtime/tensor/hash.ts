import * as kernels from '../native/generated/kernels.js'
import { Storage } from './storage.js'

/** XXH64 of native memory. */
export function hashAt(address: number, bytes: number): bigint {
  const { low, high } = kernels.mem_hash({ address, bytes })
  return BigInt(high >>> 0) * 0x1_0000_0000n + BigInt(low >>> 0)
}

/** XXH64 of JavaScript memory. */
export function hashOf(bytes: Uint8Array): bigint {
  const storage = Storage.holding(bytes)
  try {
    return hashAt(storage.address, bytes.length)
  } finally {
    storage.free()
  }
}
