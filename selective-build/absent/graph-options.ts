import type * as whole from '../../src/graph-options.js'

/** Builds without a compiler know no graph. */
export const optimizedOf: typeof whole.optimizedOf = () => false
