/** What the chunk of formats gives to callers. */
export { inspectModel } from './inspect/inspect-model.js'
export { suggestInputs } from './inspect/suggest-inputs.js'
export { startTracing, stopTracing } from './tracing.js'
