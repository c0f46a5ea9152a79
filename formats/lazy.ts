import { chunk } from '../runtime/chunk.js'

/** Readers and writers of all formats but those of `.ptl` and `.ptlc`. */
export const codecs = chunk<typeof import('./codecs.js')>('formats')
