import { setFlagsFromString } from 'node:v8'
import type { Code } from '../../../web/emit/code.js'
import { engine, type WasmFunction } from '../../../web/emit/engine.js'
import { EXPORT, IMPORT, moduleOf } from '../../../web/emit/module.js'

// what current browsers have by themselves
setFlagsFromString('--experimental-wasm-relaxed-simd')

/** Memory, and a function of generated code on it. */
export function instantiate(code: Code, pages = 16): { readonly memory: ArrayBuffer; readonly run: WasmFunction; readonly bytes: number } {
  const memory = new engine.Memory({ initial: pages })
  const run = on(memory, code)
  return { memory: memory.buffer, ...run }
}

export function on(
  memory: InstanceType<typeof engine.Memory>,
  code: Code,
  shared = false,
): { readonly run: WasmFunction; readonly bytes: number } {
  const bytes = moduleOf(code, shared)
  const { exports } = new engine.Instance(new engine.Module(bytes), { [IMPORT.module]: { [IMPORT.name]: memory } })
  return { run: exports[EXPORT] as WasmFunction, bytes: bytes.length }
}
