// The server of soak-text.mjs, in a process of its own: text-server.mjs REPOSITORY OPTIONS. It counts the steps that a model's thread begins between being told that a
// text was given up and having ended it, which text-thread.mjs sees there.
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { watchEventLoop } from './event-loop.mjs'

const threads = createRequire(import.meta.url)('node:worker_threads')
/** Texts that were given up and have not ended. */
const open = new Set()
/** How many texts ended after how many steps. */
const steps = {}

threads.Worker = class extends threads.Worker {
  constructor(file, options) {
    super(file, { ...options, execArgv: ['--import', new URL('./text-thread.mjs', import.meta.url).href] })
  }

  postMessage(message, ...rest) {
    if (message?.kind === 'cancel') open.add(message.id)
    super.postMessage(message, ...rest)
  }

  emit(name, message, ...rest) {
    if (name === 'message' && (message?.kind === 'ended' || message?.kind === 'failed') && open.delete(message.id))
      // without the number the text had ended when its client went
      if (message.stepsSince !== undefined) steps[message.stepsSince] = (steps[message.stepsSince] ?? 0) + 1
    return super.emit(name, message, ...rest)
  }
}
syncBuiltinESMExports()

const { serve } = await import('../dist/index.js')
const [, , repository, options] = process.argv
const server = await serve({ repository, port: 0, ...JSON.parse(options) })
await server.ready
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
watchEventLoop((message) => {
  if (message !== 'collect') return
  collect()
  const { rss: resident, heapUsed } = process.memoryUsage()
  process.send({ resident, heapUsed, steps, unended: open.size })
})
process.once('SIGTERM', () => server.close().then(() => process.exit(0)))
process.send({ port: server.port })
