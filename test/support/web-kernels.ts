import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { fieldOf, layoutOfName } from '../../compiler/capture/frame-layout.js'
import { frameOf } from '../../runtime/native/frame.js'
import { Kernels } from '../../runtime/native/wasm/kernels.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'

// what current browsers have by themselves; V8's first compiler for it got products of 8-bit integers wrong in Node 20
setFlagsFromString('--experimental-wasm-relaxed-simd')
setFlagsFromString('--no-liftoff')

const FILES = { DEFAULT: 'ptlite', RELAXED: 'ptlite-relaxed' } as const
export type File = keyof typeof FILES
const pathOf = (file: File): string => fileURLToPath(new URL(`../../dist/web/${FILES[file]}.wasm`, import.meta.url))

export function newKernels(file: File = 'DEFAULT'): Kernels {
  return Kernels.of(new webAssembly!.Module(readFileSync(pathOf(file))))
}

/** Of which there are files. */
export const levels = (Object.keys(FILES) as File[]).filter((file) => existsSync(pathOf(file)))

/** Runs a kernel by the frame that the native library would be given; what it says is in the frame that comes back. */
export function launch(kernels: Kernels, name: string, call: () => void): (field: string) => number {
  const frame = frameOf(call)
  const status = kernels.launchFrame(frame)
  if (status !== 0) throw new Error(`kernel ${name}: status ${status}`)
  return (field) => fieldOf(layoutOfName(name)!, frame, field)
}

/** Copies numbers into the kernels' memory. */
export function place(kernels: Kernels, data: Uint8Array | Int8Array | Int32Array | Float32Array): number {
  const address = kernels.take(data.byteLength)
  new Uint8Array(kernels.exports.memory.buffer, address, data.byteLength).set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  return address
}
