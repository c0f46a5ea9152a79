import { check } from '../error.js'

let limit = 1

/**
 * The most threads that one call may use, at least 1. It is an upper bound: the kernels of this version run on the
 * calling thread. Throws INVALID_ARGUMENT for anything but a positive integer.
 */
export function setNumThreads(count: number): void {
  check(Number.isInteger(count) && count >= 1, () => `expected a number of threads of at least 1, found ${String(count)}`)
  limit = count
}

export function getNumThreads(): number {
  return limit
}
