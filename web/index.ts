/** ptlite in browsers: the library of src/index.ts over kernels of WebAssembly. */
export * from '../src/index.js'
export { codeReady, setKernels } from '../runtime/native/wasm/library.js'
export type { KernelFile, KernelSource } from '../runtime/native/wasm/locate.js'
export { ready, type ReadyOptions } from './ready.js'
