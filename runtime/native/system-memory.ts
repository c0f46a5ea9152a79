import { PtliteError } from '../error.js'
import * as kernels from './generated/kernels.js'
import { type Block, hostMemory } from './held-blocks.js'

/** Where memory comes from. */
export interface MemorySource {
  /** `bytes` bytes with undefined contents at a 64-byte-aligned address. Throws OUT_OF_MEMORY. */
  take(bytes: number): { readonly owner: object; readonly address: number }
  /** Nobody uses a block any more, which is all that its owner has. */
  discard(block: Block): void
}

/** Memory of array buffers, which V8 counts and gives back when they are collected, in the middle of a synchronous loop too. */
export const systemMemory: MemorySource = {
  take(bytes) {
    // room to begin at a multiple of 64
    const length = bytes + 64
    let host: Uint8Array
    try {
      host = hostMemory(length)
    } catch {
      throw new PtliteError('OUT_OF_MEMORY', `the system has no memory for a tensor of ${bytes} bytes; check the sizes it was asked for`)
    }
    return { owner: host.buffer, address: kernels.mem_place({ bytes }, host) }
  },
  // the buffer goes when it is collected
  discard: kernels.mem_forget,
}
