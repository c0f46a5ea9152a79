import type * as whole from '../../runtime/native/wasm/threads/shared-import.js'

/** Nothing is shared in selective builds. */
export const withSharedMemory: typeof whole.withSharedMemory = (module) => module

export const sharedOnTheWay: typeof whole.sharedOnTheWay = (response) => response
