/** Milliseconds that a call on the server's own thread may take before it goes to a worker instead. */
export const MAX_INLINE_MS = 5

/** What is too long if it is usual, which is looked at every so many calls. */
export const LONG_INLINE_MS = 2
export const MANY_CALLS = 32
