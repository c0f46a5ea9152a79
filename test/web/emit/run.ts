import { setFlagsFromString } from 'node:v8'
import type { Code } from '../../../runtime/native/wasm/emit/code.js'
import { moduleOf } from '../../../runtime/native/wasm/emit/module.js'
import { EXPORT, IMPORT } from '../../../runtime/native/wasm/emit/names.js'
import { type Memory, webAssembly } from '../../../runtime/native/wasm/web-assembly.js'

// what current browsers have by themselves
setFlagsFromString('--experimental-wasm-relaxed-simd')

export const engine = webAssembly!

export type WasmFunction = (...numbers: number[]) => void

/** Memory, and a function of generated code on it. */
export function instantiate(
  code: Code,
  pages = 16,
): { readonly memory: ArrayBufferLike; readonly run: WasmFunction; readonly bytes: number } {
  const memory = new engine.Memory({ initial: pages })
  const run = on(memory, code)
  return { memory: memory.buffer, ...run }
}

export function on(memory: Memory, code: Code, shared = false): { readonly run: WasmFunction; readonly bytes: number } {
  const bytes = moduleOf(code, shared)
  const exports = new engine.Instance(new engine.Module(bytes), { [IMPORT.module]: { [IMPORT.name]: memory } }).exports as Record<
    string,
    WasmFunction
  >
  return { run: exports[EXPORT]!, bytes: bytes.length }
}
