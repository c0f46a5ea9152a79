import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  loadPackageDefinition,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { Blocks } from '../blocks.js'
import type { BodyBudget } from '../http/body.js'
import type { Inference, Inferred, Running } from '../inference.js'
import type { Repository } from '../models/repository.js'
import { GrpcStatus, invalid, RequestError } from '../protocol/error.js'
import { modelMetadata, serverMetadata, statisticsOf } from '../protocol/metadata.js'
import type { Settings } from '../options.js'
import { allowedBy } from '../tokens.js'
import type { Tracing } from '../tracing.js'
import { fromMessage, toMessage } from './convert.js'
import type { GrpcInferRequest, GrpcInferResponse } from './messages.js'

export interface GrpcParts {
  readonly settings: Settings
  readonly repository: Repository
  readonly inference: Inference
  readonly budget: BodyBudget
  readonly blocks: Blocks
  readonly tracing: Tracing | null
  readonly isOpen: () => boolean
  readonly onFault: (error: unknown) => void
}

type Call<Request = Record<string, unknown>> = ServerUnaryCall<Request, unknown>
type Reply = sendUnaryData<unknown>

interface Named {
  readonly name: string
  readonly version: string
}

/** Its name in the .proto. */
const SERVICE = 'inference.GRPCInferenceService'
/** Requests of one stream that may be under way. */
const MAX_OF_STREAM = 64

/** The service as its .proto declares it. */
function service(): ServiceClientConstructor['service'] {
  const file = fileURLToPath(new URL('./open_inference.proto', import.meta.url))
  const definition = loadSync(file, { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true })
  const { inference } = loadPackageDefinition(definition) as { inference: GrpcObject }
  return (inference['GRPCInferenceService'] as ServiceClientConstructor).service
}

/** The gRPC side of the protocol. Fulfils with its port. */
export async function grpcServer(parts: GrpcParts): Promise<{ readonly server: Server; readonly port: number }> {
  const { settings } = parts
  const server = new Server({ 'grpc.max_receive_message_length': settings.maxBody, 'grpc.max_send_message_length': -1 })
  server.addService(service(), handlers(parts))
  const { tlsCert, tlsKey } = settings
  const credentials =
    tlsCert === null || tlsKey === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: readFileSync(tlsCert), private_key: readFileSync(tlsKey) }])
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${host}:${settings.grpcPort}`, credentials, (error, bound) => (error === null ? resolve(bound) : reject(error))),
  )
  return { server, port }
}

function handlers(parts: GrpcParts): UntypedServiceImplementation {
  const { repository, isOpen, settings, onFault } = parts
  const isAllowed = allowedBy(settings.tokens)
  /** A method that gives its answer, or throws what it is refused with. `isFree`: without a token. */
  const unary =
    <Request>(answer: (request: Request) => unknown, isFree = false) =>
    (call: Call<Request>, reply: Reply): void => {
      const run = (): unknown => {
        if (!isFree) check(call.metadata, isAllowed)
        return answer(call.request)
      }
      new Promise((resolve) => resolve(run())).then(
        (value) => reply(null, value),
        (error: unknown) => reply(statusOf(error, onFault)),
      )
    }
  return {
    ServerLive: unary(() => ({ live: true }), true),
    ServerReady: unary(() => ({ ready: isOpen() && repository.isReady }), true),
    ModelReady: unary(({ name, version }: Named) => ({ ready: isOpen() && isServed(repository, name, version) })),
    ServerMetadata: unary(() => serverMetadata()),
    ModelMetadata: unary(({ name, version }: Named) => modelMetadata(repository.find(name, version), repository.versionsOf(name))),
    ModelStatistics: unary(({ name, version }: Named) => {
      const all =
        name === ''
          ? [...repository.served()]
          : version === ''
            ? repository.versionsOf(name).map((each) => repository.find(name, each))
            : []
      if (name !== '' && all.length === 0) all.push(repository.find(name, version))
      return { model_stats: all.map(statisticsOf) }
    }),
    RepositoryIndex: unary(async ({ ready }: { readonly ready: boolean }) => ({ models: await repository.index(ready) })),
    RepositoryModelLoad: unary((request: LoadRequest) => changeModel(parts, 'load', request)),
    RepositoryModelUnload: unary((request: LoadRequest) => changeModel(parts, 'unload', request)),
    ModelInfer: (call: Call<GrpcInferRequest>, reply: Reply) => {
      let running: Running | null = null
      call.on('cancelled', () => running?.cancel())
      try {
        check(call.metadata, isAllowed)
        running = infer(parts, 'ModelInfer', call.request, call.metadata, timeoutOf(call.getDeadline()), (error, message) =>
          error === null ? reply(null, message) : reply(statusOf(error, onFault)),
        )
      } catch (error) {
        reply(statusOf(error, onFault))
      }
    },
    ModelStreamInfer: (call: ServerDuplexStream<GrpcInferRequest, unknown>) => inferStream(parts, call, isAllowed),
  }
}

interface LoadRequest {
  readonly model_name: string
  readonly parameters: Readonly<Record<string, unknown>>
}

async function changeModel(
  { settings, repository }: GrpcParts,
  action: 'load' | 'unload',
  { model_name: name, parameters }: LoadRequest,
): Promise<object> {
  if (!settings.repositoryApi) throw invalid('this server does not load and unload models on request')
  const unknown = Object.keys(parameters).filter((key) => key !== 'unload_dependents')
  if (unknown.length > 0)
    throw invalid(`parameter '${unknown[0]!.slice(0, 100)}' is not supported: models are loaded as they lie in the repository`)
  await repository[action](name)
  return {}
}

function inferStream(
  parts: GrpcParts,
  call: ServerDuplexStream<GrpcInferRequest, unknown>,
  isAllowed: (authorization: string | undefined) => boolean,
): void {
  const running = new Set<Running>()
  let pending = 0
  let hasEnded = false
  const settled = (error: Error | null, message: GrpcInferResponse | null): void => {
    pending--
    if (call.cancelled) return
    call.write(error === null ? { infer_response: message } : { error_message: statusOf(error, parts.onFault).details })
    if (pending < MAX_OF_STREAM && call.isPaused()) call.resume()
    if (hasEnded && pending === 0) call.end()
  }
  try {
    check(call.metadata, isAllowed)
  } catch (error) {
    call.destroy(Object.assign(error as Error, statusOf(error, parts.onFault)))
    return
  }
  call.on('data', (request: GrpcInferRequest) => {
    pending++
    if (pending >= MAX_OF_STREAM) call.pause()
    let own: Running | null = null
    let isOver = false
    try {
      own = infer(parts, 'ModelStreamInfer', request, call.metadata, null, (error, message) => {
        isOver = true
        if (own !== null) running.delete(own)
        settled(error, message)
      })
      if (own !== null && !isOver) running.add(own)
    } catch (error) {
      settled(error as Error, null)
    }
  })
  call.on('end', () => {
    hasEnded = true
    if (pending === 0) call.end()
  })
  call.on('cancelled', () => {
    for (const each of running) each.cancel()
  })
}

function infer(
  { inference, repository, budget, blocks, tracing }: GrpcParts,
  method: 'ModelInfer' | 'ModelStreamInfer',
  request: GrpcInferRequest,
  metadata: Metadata,
  timeoutMs: number | null,
  done: (error: Error | null, message: GrpcInferResponse | null) => void,
): Running | null {
  const { model_name: name, model_version: version, id } = request
  const traceable = { kind: 'grpc', service: SERVICE, method, headers: metadata.getMap() } as const
  const span = tracing?.start(traceable, name, version === '' ? undefined : version) ?? null
  const bytes = request.raw_input_contents.reduce((sum, each) => sum + each.length, 0)
  let isCounted = false
  const finish = (fault: Error | null, result: Inferred | null): number => {
    if (isCounted) budget.giveBack(bytes)
    isCounted = false
    const status = fault === null ? 200 : fault instanceof RequestError ? fault.status : 500
    const code = fault === null ? GrpcStatus.OK : fault instanceof RequestError ? fault.grpcStatus : GrpcStatus.INTERNAL
    span?.end({ grpc: code, isFault: status >= 500 })
    try {
      const model = result?.model ?? repository.find(name, version)
      model.metrics.answered(status)
    } catch {
      // of an unknown model
    }
    return status
  }
  try {
    budget.take(bytes)
    isCounted = true
    const parsed = fromMessage(request, blocks)
    return inference.start(name, version, parsed, timeoutMs, span, (fault, result) => {
      finish(fault, result)
      if (fault !== null || result === null) return done(fault, null)
      let message: GrpcInferResponse
      try {
        message = toMessage(result.model.name, result.model.version, id, result.outputs, parsed.binaryOutput)
      } catch (error) {
        return done(error as Error, null)
      }
      done(null, message)
    })
  } catch (error) {
    finish(error as Error, null)
    throw error
  }
}

function check(metadata: Metadata, isAllowed: (authorization: string | undefined) => boolean): void {
  const [authorization] = metadata.get('authorization')
  if (!isAllowed(authorization?.toString()))
    throw new RequestError(401, 'expected "authorization: Bearer TOKEN" with a token of this server')
}

function isServed(repository: Repository, name: string, version: string): boolean {
  try {
    repository.find(name, version)
    return true
  } catch {
    return false
  }
}

/** What is left until the client gives up. */
function timeoutOf(deadline: Date | number): number | null {
  const time = typeof deadline === 'number' ? deadline : deadline.getTime()
  return Number.isFinite(time) ? Math.max(1, time - Date.now()) : null
}

function statusOf(error: unknown, onFault: (error: unknown) => void): { code: number; details: string } {
  if (error instanceof RequestError) return { code: error.grpcStatus, details: error.message }
  onFault(error)
  return { code: GrpcStatus.INTERNAL, details: 'internal error' }
}
