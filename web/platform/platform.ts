/** What stands for runtime/platform.ts in browsers: nothing is set, and the processor is that of the kernels. */
import type * as node from '../../runtime/platform.js'

export const arch = 'wasm32'
export const env: typeof node.env = {}
export const pid = 1

export const nanoseconds: typeof node.nanoseconds = () => BigInt(Math.round(performance.now() * 1e6))
export const milliseconds: typeof node.milliseconds = () => performance.now()
export const print: typeof node.print = (text) => console.log(text.replace(/\n$/, ''))
export const warn: typeof node.warn = (text) => console.warn(text)

type Soon = (task: () => void) => unknown

/** A message to oneself comes behind what waits already, without the milliseconds that a timer waits at least. */
function byMessages(): Soon {
  const waiting: (() => void)[] = []
  const { port1, port2 } = new MessageChannel()
  port1.addEventListener('message', () => waiting.shift()?.())
  port1.start()
  return (task) => {
    waiting.push(task)
    port2.postMessage(null)
  }
}

let own: Soon | undefined

// what Node has is not looked for before it is needed: tests take it away
export const soon: typeof node.soon = (task) => {
  own ??= (globalThis as { readonly setImmediate?: Soon }).setImmediate ?? byMessages()
  own(task)
}
