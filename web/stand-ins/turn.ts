/** Fulfils when what waits in the event loop has had its turn. A message comes after it at once, where a timer may wait some milliseconds. */
export function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', () => {
      port1.close()
      resolve()
    })
    port1.start()
    port2.postMessage(null)
  })
}
