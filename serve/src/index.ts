/** @ptlite/serve: serves models of a folder over the Open Inference Protocol, and language models over OpenAI's interface. */
export { type PtliteServer, serve } from './serve.js'
export type { ServeOptions } from './options.js'
export { CommandError, runServe, SERVE_HELP } from './command.js'
export type { Batching, DeclaredTensor, ModelConfig, Stateful, TextConfig, WarmUpInput } from './repository/config.js'
export { SERVE_VERSION } from './version.js'
