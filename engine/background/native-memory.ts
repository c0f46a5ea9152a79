import * as kernels from '../../runtime/native/generated/kernels.js'
import type { MemorySource } from '../../runtime/native/memory.js'

const abandoned = /* @__PURE__ */ new FinalizationRegistry<number>((address) => {
  kernels.mem_free({ address })
})

/** The system's own memory, which outlives the thread that took it: what this thread makes is used by the one that it works for. */
export const nativeMemory: MemorySource = {
  take(bytes) {
    const address = kernels.mem_alloc({ bytes })
    const owner = {}
    abandoned.register(owner, address, owner)
    return { owner, address }
  },
  discard({ owner, address }) {
    abandoned.unregister(owner)
    kernels.mem_free({ address })
  },
}
