import type * as whole from '../../src/signal.js'

/** Builds that only interpret load a model to its end. */
export const isSignal: typeof whole.isSignal = () => 'none in this build'
export const ownSignal: typeof whole.ownSignal = () => undefined
export const untilAborted: typeof whole.untilAborted = async (work) => work
export const giveUpIfAborted: typeof whole.giveUpIfAborted = () => undefined
