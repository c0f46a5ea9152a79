import type * as node from '../../formats/containers/model-memory.js'
import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'

/** A copy in the memory of the kernels, where weights are used in place. */
export const heldBytes: typeof node.heldBytes = (bytes) => {
  if (bytes.length === 0) return bytes
  const address = kernels.mem_alloc({ bytes: bytes.length })
  kernels.mem_write({ address, bytes: bytes.length }, bytes)
  return { address, size: bytes.length }
}

export const openFile: typeof node.openFile = () => {
  throw new PtliteError('UNSUPPORTED_HOST', 'browsers have no files: pass the bytes, a File or what fetch() answered')
}
