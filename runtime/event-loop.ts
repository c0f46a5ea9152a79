import { soon } from './platform.js'

/** Fulfils when what waits in the event loop has had its turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    soon(resolve)
  })
}
