/** Fulfils when what waits in the event loop has had its turn. */
export function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
