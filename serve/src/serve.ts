import type { AddressInfo } from 'node:net'
import { type FastifyBaseLogger, fastify } from 'fastify'
import { Blocks } from './blocks.js'
import { BodyBudget } from './http/body.js'
import { httpServer } from './http/server.js'
import { grpcServer } from './grpc/server.js'
import { Inference } from './inference.js'
import { Metrics } from './metrics.js'
import { Repository } from './models/repository.js'
import { type ServeOptions, settingsOf } from './options.js'
import { openTracing } from './tracing.js'

/** Milliseconds that ending waits for what should take no time. */
const LAST_WAIT = 1000

/** A server that takes requests. */
export interface PtliteServer {
  /** Of HTTP. */
  readonly port: number
  readonly url: string
  /** Of gRPC; null where there is none. */
  readonly grpcPort: number | null
  /** Fulfils once the models have been loaded, as far as they can be. */
  readonly ready: Promise<void>
  /** Loads all models of the repository again; what is served goes on meanwhile. */
  reload(): Promise<void>
  /** Ends a worker thread as a fault would, for tests of what follows: another takes its place. @internal */
  endWorker(index: number): Promise<void>
  /** Answers what has come, takes nothing more, and ends. */
  close(): Promise<void>
}

/** Starts a server. It listens at once, and says that it is ready when its models are. Rejects where it cannot listen, or has no folder. */
export async function serve(options: ServeOptions): Promise<PtliteServer> {
  const settings = settingsOf(options)
  const log: FastifyBaseLogger = fastify({ logger: { level: settings.logLevel, base: null } }).log
  let repository: Repository | null = null
  const budget = new BodyBudget(settings.maxBodies, settings.maxBody)
  const blocks = new Blocks()
  const metrics = new Metrics(() => ({
    queues: () =>
      [...(repository?.served() ?? [])].map(({ name, version, queue, pending }) => ({
        model: name,
        version,
        waiting: queue.length,
        pending,
      })),
    sequences: () =>
      [...(repository?.served() ?? [])].flatMap(({ name, version, text }) =>
        text === null ? [] : [{ model: name, version, ...text.counts }],
      ),
    workers: () => repository?.pool.usage() ?? [],
    bodyBytes: () => budget.used,
  }))
  repository = await Repository.open(
    {
      ...{ folder: settings.repository, modelName: settings.modelName, workers: settings.workers, threads: settings.threads },
      ...{
        heapMegabytes: settings.workerHeap,
        workerNice: settings.workerNice,
        queueSize: settings.queueSize,
        timeoutMs: settings.timeout,
        runBytes: settings.runBytes,
      },
      inlineMs: settings.inline,
      blocks,
    },
    metrics,
    log,
  )
  const models = repository
  let isOpen = true
  const tracing = settings.tracing ? await openTracing() : null
  const inference = new Inference(models, blocks)
  const app = httpServer({ settings, repository: models, inference, metrics, tracing, budget, blocks, isOpen: () => isOpen, log })
  const onFault = (error: unknown): void => log.error(error, 'internal error')
  const scheme = settings.tlsCert === null ? 'http' : 'https'
  let grpc: Awaited<ReturnType<typeof grpcServer>> | null = null
  try {
    const listenTextResolver = (address: string): string => `listening at ${address.replace(/^http(?=:)/, scheme)}`
    await app.listen({ host: settings.host, port: settings.port, listenTextResolver })
    if (settings.grpcPort !== null)
      grpc = await grpcServer({ settings, repository: models, inference, budget, blocks, tracing, isOpen: () => isOpen, onFault })
  } catch (error) {
    await app.close()
    await models.close()
    throw error
  }
  const { port } = app.server.address() as AddressInfo
  let closing: Promise<void> | null = null
  const ready = models.start(settings.load)
  const close = async (): Promise<void> => {
    isOpen = false
    const within = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
    models.abandonLoads()
    await Promise.race([ready, within(LAST_WAIT)])
    const ended = Promise.all([
      app.close(),
      new Promise<void>((resolve) => (grpc === null ? resolve() : grpc.server.tryShutdown(() => resolve()))),
    ])
    await Promise.race([models.drain(), within(settings.drain)])
    await Promise.race([ended, within(LAST_WAIT)])
    app.server.closeAllConnections()
    grpc?.server.forceShutdown()
    await models.close()
  }
  return {
    port,
    grpcPort: grpc?.port ?? null,
    url: `${scheme}://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`,
    ready,
    reload: () => models.reload(),
    endWorker: (index) => models.pool.endWorker(index),
    close: () => (closing ??= close()),
  }
}
