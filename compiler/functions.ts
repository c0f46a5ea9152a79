/** What the chunk of the compiler gives: calls are interpreted without any of it. */
export { compileCall } from './compiled-call.js'
export { callAndCompile, letGoOfSources } from './delivery.js'
export { describeGraph } from './describe-graph.js'
export { explainPasses } from './explain.js'
export { newSharedConstants, withSharedConstants } from './graph/shared-constants.js'
export { methodRegions, recordRegions } from './regions/method-regions.js'
export { fitsStart, matchStart } from './regions/region.js'
