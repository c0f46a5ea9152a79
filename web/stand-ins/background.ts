import type * as whole from '../../engine/background/interpret.js'

/** Pages have no background thread: what no plan serves is interpreted in the thread of the caller. */
export const interpretInBackground: typeof whole.interpretInBackground = () => null
