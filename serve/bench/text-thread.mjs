// Comes before the program of each thread of text-server.mjs: with the end of a text that was given up goes how many steps the thread began after it was told.
import { parentPort } from 'node:worker_threads'

/** Steps that began so far, and how many had when the thread was told that a text was given up. */
let steps = 0
const cancelled = new Map()

if (parentPort !== null) {
  const { on, postMessage } = parentPort
  parentPort.on = function (name, listener) {
    if (name !== 'message') return on.call(this, name, listener)
    return on.call(this, name, (message) => {
      if (message?.kind === 'cancel') cancelled.set(message.id, steps)
      listener(message)
    })
  }
  parentPort.postMessage = function (message, ...rest) {
    if (message?.kind === 'step') steps++
    const before = message?.kind === 'ended' || message?.kind === 'failed' ? cancelled.get(message.id) : undefined
    if (before === undefined) return postMessage.call(this, message, ...rest)
    cancelled.delete(message.id)
    return postMessage.call(this, { ...message, stepsSince: steps - before }, ...rest)
  }
}
