/** The face of selective builds for engines of WebAssembly. */
export * from '../src/selected.js'
export { kernelsReady as ready, setKernels } from '../runtime/native/wasm/library.js'
export type { KernelFile, KernelFiles, KernelSource } from '../runtime/native/wasm/locate.js'
