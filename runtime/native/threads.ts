import { check } from '../error.js'
import * as kernels from './generated/kernels.js'

const MOST = 256

/**
 * The most threads that one kernel call uses, 1 to begin with; for the whole process, workers included. Results are the same bits for
 * any number. Helper threads are started when they are needed; idle ones sleep, and end after some seconds. Counts above 256 mean 256. Throws
 * INVALID_ARGUMENT for anything but a positive integer.
 */
export function setNumThreads(count: number): void {
  check(
    Number.isInteger(count) && count >= 1,
    () => `expected a number of threads of at least 1, found ${typeof count === 'number' ? count : typeof count}`,
  )
  kernels.thread_limit({ wanted: Math.min(count, MOST) })
}

/** The most threads that one kernel call uses: what `setNumThreads` was told, or 1. */
export function getNumThreads(): number {
  return kernels.thread_limit({ wanted: 0 })
}
