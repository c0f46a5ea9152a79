import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Inference } from '../inference.js'
import type { Metrics } from '../metrics.js'
import type { Repository } from '../models/repository.js'
import { modelMetadata, serverMetadata, statisticsOf } from '../protocol/metadata.js'
import { RequestError } from '../protocol/error.js'
import type { Settings } from '../options.js'
import type { Tracing } from '../tracing.js'
import { allowedBy } from '../tokens.js'
import type { Blocks } from '../blocks.js'
import { type BodyBudget } from './body.js'
import { generateRoutes } from './generate.js'
import { answerInfer, type InferContext } from './infer.js'
import { KnownRoutes } from './known-routes.js'
import { DirectMessage } from './message.js'
import { Outbox } from './outbox.js'
import { isPublic, pageRoutes } from './page.js'
import { errorBody } from '../openai/errors.js'
import { openAiRoutes } from '../openai/routes.js'

export interface HttpParts {
  readonly settings: Settings
  readonly repository: Repository
  readonly inference: Inference
  readonly metrics: Metrics
  readonly tracing: Tracing | null
  readonly budget: BodyBudget
  readonly blocks: Blocks
  /** false once the server ends. */
  readonly isOpen: () => boolean
  readonly log: FastifyBaseLogger
}

interface ModelPath {
  readonly Params: { readonly model: string; readonly version?: string }
}

/** Milliseconds that a connection may be idle: longer than load balancers keep theirs. */
const KEEP_ALIVE = 75_000

/** Bytes of bodies that are not for inference. */
const MAX_SMALL = 1 << 20

/** The REST side of the protocol. */
export function httpServer(parts: HttpParts): FastifyInstance {
  const { settings, repository, metrics, log } = parts
  const context: InferContext = {
    ...parts,
    outbox: new Outbox(),
    find: (name, version) => repository.find(name, version),
    onFault: (error) => log.error(error, 'internal error'),
  }
  const isAllowed = allowedBy(settings.tokens)
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_SMALL,
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: 'idle',
    serverFactory: (listener) => listening(settings, listener),
  })
  app.addHook('onRequest', (request, _reply, next) => {
    if (isAllowed(request.headers.authorization) || request.url.startsWith('/v2/health/') || isPublic(pathOf(request))) next()
    else next(new RequestError(401, 'expected "Authorization: Bearer TOKEN" with a token of this server'))
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => fail(error, request, reply, context))
  const routes = new KnownRoutes()
  app.addHook('onRoute', ({ method, url }) => routes.add(method, url))
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const methods = routes.methodsOf(path)
    if (methods.length === 0) throw new RequestError(404, `there is no ${request.method} ${path.slice(0, 200)}`)
    void reply.header('Allow', methods.join(', '))
    throw new RequestError(405, `${path.slice(0, 200)} takes ${methods.join(', ')}, found ${request.method}`)
  })
  // bodies are read by whom they are for
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  pageRoutes(app, settings.tokens !== null)
  app.get('/v2', () => serverMetadata())
  app.get('/v2/models', async () => ({ models: await repository.index(false) }))
  app.get('/v2/health/live', () => ({ live: true }))
  app.get('/v2/health/ready', (_request, reply) => ready(reply, parts.isOpen() && repository.isReady, {}))
  app.get('/metrics', async (_request, reply) => {
    await reply.type(metrics.contentType).send(await metrics.text())
  })
  for (const path of ['/v2/models/:model', '/v2/models/:model/versions/:version']) {
    app.get<ModelPath>(path, ({ params: { model, version } }) =>
      modelMetadata(repository.find(model, version), repository.versionsOf(model)),
    )
    app.get<ModelPath>(`${path}/ready`, ({ params: { model, version } }, reply) => {
      const isServed = isThere(() => repository.find(model, version))
      return ready(reply, parts.isOpen() && isServed, { name: model })
    })
    app.get<ModelPath>(`${path}/stats`, ({ params: { model, version } }) => {
      const models = version === undefined ? versionsServed(repository, model) : [repository.find(model, version)]
      return { model_stats: models.map(statisticsOf) }
    })
    app.post<ModelPath>(`${path}/infer`, (request, reply) => {
      reply.hijack()
      answerInfer(context, request.params.model, request.params.version, request.raw, reply.raw)
    })
  }
  generateRoutes(app, repository, context)
  openAiRoutes(app, repository, context)
  app.get('/v2/models/stats', () => ({ model_stats: [...repository.served()].map(statisticsOf) }))
  app.post('/v2/repository/index', async (request) => {
    const body = (await smallBody(request)) as { ready?: unknown } | null
    const readyOnly = body?.ready ?? false
    if (typeof readyOnly !== 'boolean') throw new RequestError(400, 'expected "ready" to be true or false')
    return repository.index(readyOnly)
  })
  for (const action of ['load', 'unload'] as const)
    app.post<ModelPath>(`/v2/repository/models/:model/${action}`, async (request, reply) => {
      if (!settings.repositoryApi) throw new RequestError(400, 'this server does not load and unload models on request')
      const body = (await smallBody(request)) as { parameters?: Record<string, unknown> } | null
      const unknown = Object.keys(body?.parameters ?? {}).filter((key) => key !== 'unload_dependents')
      if (unknown.length > 0)
        throw new RequestError(
          400,
          `parameter '${unknown[0]!.slice(0, 100)}' is not supported: models are loaded as they lie in the repository`,
        )
      await repository[action](request.params.model)
      await reply.send({})
    })
  return app
}

/** A server of Node whose requests can be read without a stream. */
function listening({ tlsCert, tlsKey }: Settings, listener: RequestListener): Server {
  const options = { IncomingMessage: DirectMessage, keepAliveTimeout: KEEP_ALIVE }
  if (tlsCert === null) return createServer(options, listener)
  const keys = { cert: readFileSync(tlsCert), key: readFileSync(tlsKey!) }
  return createTlsServer({ ...keys, ...options }, listener) as unknown as Server
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]!
}

function versionsServed(repository: Repository, name: string): ReturnType<Repository['find']>[] {
  repository.find(name, undefined)
  return repository.versionsOf(name).map((version) => repository.find(name, version))
}

function isThere(find: () => unknown): boolean {
  try {
    find()
    return true
  } catch {
    return false
  }
}

function ready(reply: FastifyReply, isReady: boolean, fields: object): FastifyReply {
  return reply.code(isReady ? 200 : 503).send({ ...fields, ready: isReady })
}

/** JSON of a few fields; null where there is no body. */
async function smallBody(request: FastifyRequest): Promise<unknown> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request.raw as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MAX_SMALL) throw new RequestError(413, `the body has more than ${MAX_SMALL} bytes`)
    parts.push(part)
  }
  if (bytes === 0) return null
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    throw new RequestError(400, 'the body is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RequestError(400, 'expected the body to be a JSON object')
  return value
}

function fail(error: Error & { statusCode?: number }, request: FastifyRequest, reply: FastifyReply, { onFault }: InferContext): void {
  const isOpenAi = request.url.startsWith('/v1/')
  if (error instanceof RequestError) {
    if (error.retryAfter !== undefined) void reply.header('Retry-After', error.retryAfter)
    if (error.status === 401) void reply.header('WWW-Authenticate', 'Bearer')
    void reply.code(error.status).send(isOpenAi ? errorBody(error, error.status) : { error: error.message })
    return
  }
  const status = error.statusCode ?? 500
  if (status >= 500) onFault(error)
  void reply.code(status).send(isOpenAi ? errorBody(error, status) : { error: status >= 500 ? 'internal error' : error.message })
}
