import { chunk } from '../../chunk.js'

/** Calls with tensors of dtypes that have little arithmetic, which few programs have. */
export const limited = chunk<typeof import('./limited.js')>('more-operators')
