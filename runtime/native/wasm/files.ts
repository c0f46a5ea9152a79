import type { WasmLevel } from './features.js'

/** Where the kernels of each level are: beside the part of the library that this file is in. Tools that bundle programs look for just such expressions, and copy the files. */
export const FILES: Partial<Record<WasmLevel, () => URL>> = {
  DEFAULT: () => new URL('./ptlite.wasm', import.meta.url),
  RELAXED: () => new URL('./ptlite-relaxed.wasm', import.meta.url),
}
