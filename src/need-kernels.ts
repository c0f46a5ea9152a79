import { nativeHost } from '../runtime/native/library.js'

/** A model that could not run is not loaded. Throws NATIVE_LIBRARY. */
export function needKernels(): void {
  nativeHost()
}
