import type { Mapping } from '../../formats/containers/map-file.js'
import * as kernels from '../../runtime/native/generated/kernels.js'

/** A copy in the memory of the kernels, where weights are used in place. */
export function heldBytes(bytes: Buffer): Buffer | Mapping {
  if (bytes.length === 0) return bytes
  const address = kernels.mem_alloc({ bytes: bytes.length })
  kernels.mem_write({ address, bytes: bytes.length }, bytes)
  return { address, size: bytes.length }
}
