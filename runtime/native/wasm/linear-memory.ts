import type { MemorySource } from '../memory.js'
import { nativeHost } from './library.js'

/** Stands for runtime/native/system-memory.ts in builds for browsers: blocks of the kernels' memory, which go when nobody has their owner any more. */
const abandoned = /* @__PURE__ */ new FinalizationRegistry<number>((address) => {
  nativeHost().give(address)
})

export const systemMemory: MemorySource = {
  take(bytes) {
    const address = nativeHost().take(bytes)
    const owner = {}
    abandoned.register(owner, address, owner)
    return { owner, address }
  },
  discard({ owner, address }) {
    abandoned.unregister(owner)
    nativeHost().give(address)
  },
}
