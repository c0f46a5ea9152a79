import type { WasmLevel } from './features.js'

/** Where the kernels of each level are: beside the bundle. Tools that bundle programs look for just such expressions, and copy the files. */
export const FILES: Partial<Readonly<Record<WasmLevel, () => URL>>> = {
  DEFAULT: () => new URL('./web/ptlite.wasm', import.meta.url),
  RELAXED: () => new URL('./web/ptlite-relaxed.wasm', import.meta.url),
}
