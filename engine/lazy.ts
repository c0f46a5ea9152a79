import { chunk } from '../runtime/chunk.js'

/** Loading and interpreting. */
export const models = chunk<typeof import('./functions.js')>('model')

/** Caches in fewer bits. */
export const caches = chunk<typeof import('./narrow-caches.js')>('formats')

/** Plans of files. */
export const plans = chunk<typeof import('./plan-functions.js')>('plans')

/** What makes plans for files. */
export const planning = chunk<typeof import('./plan-ahead.js')>('formats')

/** The thread behind `Module.run`. */
export const background = chunk<typeof import('./background/functions.js')>('background')
