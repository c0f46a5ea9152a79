import { frameBytes } from './frame-memory.js'
import { type Launch, openCustomLibrary } from './host.js'
import { nativeHost } from './library.js'

/**
 * Loads a library of custom kernels: a shared library that exports ptlite_launch and ptlite_abi_hash, as PTLITE_KERNEL_LIBRARY of its generated
 * header defines them. Throws NATIVE_LIBRARY where it cannot be loaded, was cut off, or has another hash; `mismatch` says so.
 */
export function openLibrary(path: string, abiHash: number, mismatch: string): Launch {
  return openCustomLibrary(nativeHost(), path, frameBytes, abiHash, () => mismatch)
}
