import { check } from '../../error.js'
import type * as whole from '../threads.js'
import { threadsInUse, useThreads } from './threads/loading.js'

/** Stands for runtime/native/threads.ts in the library for browsers, where threads are workers: see docs/web.md. */

export const setNumThreads: typeof whole.setNumThreads = (count) => {
  check(
    Number.isInteger(count) && count >= 1,
    () => `expected a number of threads of at least 1, found ${typeof count === 'number' ? count : typeof count}`,
  )
  useThreads(count)
}

export const getNumThreads: typeof whole.getNumThreads = threadsInUse
