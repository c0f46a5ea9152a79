/** ptlite in browsers: the library of src/index.ts over kernels of WebAssembly. */
// next to nothing here: what cannot be compiled is interpreted in the thread of the caller
import '../chunks/background.js'
export * from '../src/index.js'
export { codeReady, setKernels } from '../runtime/native/wasm/library.js'
export { clearCache, loadCached, type CachedOptions } from './cache/load-cached.js'
export { loadInWorker } from './worker/load-in-worker.js'
export { WorkerModule, type WorkerInput } from './worker/worker-module.js'
export type { KernelFile, KernelFiles, KernelSource } from '../runtime/native/wasm/locate.js'
export { ready, type ReadyOptions } from './ready.js'
