/** @ptlite/serve: serves models of a folder over the Open Inference Protocol. */
export { type PtliteServer, serve } from './serve.js'
export type { ServeOptions } from './options.js'
export { CommandError, runServe, SERVE_HELP } from './command.js'
export type { Batching, DeclaredTensor, ModelConfig, Stateful, WarmUpInput } from './repository/config.js'
export { SERVE_VERSION } from './version.js'
