// The server that is measured, in a process of its own: server.mjs REPOSITORY OPTIONS
import { availableParallelism } from 'node:os'
import { watchEventLoop } from './event-loop.mjs'

process.env.UV_THREADPOOL_SIZE ??= String(Math.max(4, availableParallelism() + 2))
const { serve } = await import('../dist/index.js')
const [, , repository, options] = process.argv
const server = await serve({ repository, port: 0, logLevel: 'warn', ...JSON.parse(options) })
await server.ready
watchEventLoop(async (message) => {
  if (message === 'kill a worker') await server.endWorker(Math.floor(Math.random() * availableParallelism()))
})
process.once('SIGTERM', () => server.close().then(() => process.exit(0)))
process.send({ port: server.port })
