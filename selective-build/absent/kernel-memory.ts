import type * as whole from '../../runtime/native/wasm/threads/memory.js'

/** Modules of selective builds have memory of their own. */
export const newMemory: typeof whole.newMemory = () => ({ memory: undefined, isShared: false })

export const withMemory: typeof whole.withMemory = (ptlite) => ({ ptlite })

export const beginFirst: typeof whole.beginFirst = () => undefined
