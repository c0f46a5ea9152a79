import { chunk } from '../runtime/chunk.js'

/** Operators that are called outside of models. */
export const eager = chunk<typeof import('./eager.js')>('operators')

/** Adding operators. */
export const extension = chunk<typeof import('./extension.js')>('more-operators')

/** Pictures and sound. */
export const media = chunk<typeof import('../media/functions.js')>('media')

/** Looking at files, and at what models use. */
export const inspection = chunk<typeof import('./inspection.js')>('formats')
