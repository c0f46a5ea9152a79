import { chunk } from '../runtime/chunk.js'

/** The compiler, from the first call on that is recorded. */
export const compiler = chunk<typeof import('./functions.js')>('compiler')
