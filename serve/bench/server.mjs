// The server that is measured, in a process of its own.
import { availableParallelism } from 'node:os'
import { repository } from './models.mjs'
import { watchEventLoop } from './event-loop.mjs'

process.env.UV_THREADPOOL_SIZE ??= String(Math.max(4, availableParallelism() + 2))
const { serve } = await import('../dist/index.js')
const server = await serve({
  repository: process.argv[2] ?? repository,
  port: 0,
  logLevel: process.env.LOG ?? 'warn',
  ...JSON.parse(process.argv[3] ?? '{}'),
})
await server.ready
watchEventLoop(async (message) => {
  if (message === 'kill a worker') await server.endWorker(Math.floor(Math.random() * availableParallelism()))
})
process.send({ port: server.port })
