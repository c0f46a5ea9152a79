/** setImmediate, where there is none: a message to oneself comes behind what waits already, without the milliseconds that a timer waits at least. */
type Soon = (task: () => void) => unknown

function byMessages(): Soon {
  const waiting: (() => void)[] = []
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => waiting.shift()?.()
  return (task) => {
    waiting.push(task)
    port2.postMessage(null)
  }
}

let soon: Soon | undefined

/** Not looked for before it is needed: tests take it away. */
const soonHere: Soon = (task) => (soon ??= (globalThis as { setImmediate?: Soon }).setImmediate ?? byMessages())(task)
export { soonHere as setImmediate }
