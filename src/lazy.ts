import { chunk } from '../runtime/chunk.js'

export type EagerFunctions = typeof import('./eager.js')

/** Operators that are called outside of models. */
export const eager = chunk<EagerFunctions>('operators')

/** Adding operators. */
export const extension = chunk<typeof import('./extension.js')>('more-operators')

/** Pictures and sound. */
export const media = chunk<typeof import('../media/functions.js')>('media')

/** Looking at files, and at what models use. */
export const inspection = chunk<typeof import('./inspection.js')>('formats')

/** Tokens that follow a prompt. */
export const generation = chunk<typeof import('../generation/functions.js')>('media')

/** Speech as text. */
export const speech = chunk<typeof import('../speech/functions.js')>('media')

/** Models from servers and streams. */
export const remote = chunk<typeof import('./remote/node.js')>('formats')
