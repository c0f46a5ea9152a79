import type * as Api from '@opentelemetry/api'
import type * as Core from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type * as Sdk from '@opentelemetry/sdk-trace-base'
import type * as Grpc from '@grpc/grpc-js'
import type * as Loader from '@grpc/proto-loader'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fixture, input, repository, requireOfServe, start } from './support/server.js'

const { propagation, SpanKind, SpanStatusCode, trace } = requireOfServe('@opentelemetry/api') as typeof Api
const { W3CTraceContextPropagator } = requireOfServe('@opentelemetry/core') as typeof Core
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = requireOfServe('@opentelemetry/sdk-trace-base') as typeof Sdk
const grpc = requireOfServe('@grpc/grpc-js') as typeof Grpc
const { loadSync } = requireOfServe('@grpc/proto-loader') as typeof Loader

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const exporter = new InMemorySpanExporter()

t.before(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
})

/** Spans that ended since it was called last, by name. */
function spans(): Map<string, ReadableSpan> {
  const found = new Map(exporter.getFinishedSpans().map((span) => [span.name, span]))
  exporter.reset()
  return found
}

function nanoseconds([seconds, rest]: readonly [number, number]): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest)
}

/** One lies within the other, but for what two clocks are apart. */
function isWithin(inner: ReadableSpan, outer: ReadableSpan): boolean {
  const slack = 50_000_000n
  return (
    nanoseconds(inner.startTime) + slack >= nanoseconds(outer.startTime) &&
    nanoseconds(inner.startTime) <= nanoseconds(inner.endTime) &&
    nanoseconds(inner.endTime) <= nanoseconds(outer.endTime) + slack
  )
}

type Client = Grpc.Client & { ModelInfer(request: object, metadata: Grpc.Metadata, done: (error: unknown) => void): void }

const ROW = input('x', 'FP32', [1, 4], [1, 2, 3, 4])

t.test('a request is a span of its caller, with one for its time in the queue and one for its run', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }), { tracing: true, inline: 0 })
  const body = JSON.stringify({ inputs: [ROW] })
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` }
  t.equal((await server.post('/v2/models/affine/versions/1/infer', body, { headers })).status, 200)
  const found = spans()
  const request = found.get('POST /v2/models/{model}/versions/{version}/infer')!
  t.equal(request.spanContext().traceId, TRACE)
  t.equal(request.parentSpanContext?.spanId, CALLER)
  t.equal(request.kind, SpanKind.SERVER)
  t.equal(request.status.code, SpanStatusCode.UNSET)
  t.strictSame(request.attributes, {
    'http.request.method': 'POST',
    'url.path': '/v2/models/affine/versions/1/infer',
    'http.route': '/v2/models/{model}/versions/{version}/infer',
    'ptlite.model.name': 'affine',
    'ptlite.model.version': '1',
    'http.response.status_code': 200,
  })
  for (const name of ['queue', 'run']) {
    const stage = found.get(name)!
    t.equal(stage.parentSpanContext?.spanId, request.spanContext().spanId)
    t.equal(stage.spanContext().traceId, TRACE)
    t.ok(isWithin(stage, request), name)
  }
  t.strictSame(found.get('run')!.attributes, { 'ptlite.batch.rows': 1 })
})

t.test('calls on the own thread have no queue; refusals have their status', async (t) => {
  const config = { inline: true, warmUp: [[{ datatype: 'FP32', shape: [1, 4] }]] }
  const folder = repository(t, { 'affine/1/model.ptl': fixture('affine.ptl'), 'affine/config.json': config })
  const server = await start(t, folder, { tracing: true, inline: 100 })
  let names: string[] = []
  // one that is interrupted goes to a worker
  for (let i = 0; i < 50 && (i === 0 || names.includes('queue')); i++) {
    t.equal((await server.infer('affine', [ROW])).status, 200)
    names = [...spans().keys()]
  }
  t.strictSame(names, ['run', 'POST /v2/models/{model}/infer'])
  t.equal((await server.infer('none', [ROW])).status, 404)
  const [request, ...others] = spans().values()
  t.strictSame(others, [])
  t.equal(request!.attributes['http.response.status_code'], 404)
  t.equal(request!.status.code, SpanStatusCode.UNSET, "the client's fault")
})

t.test('requests of gRPC', async (t) => {
  const server = await start(t, repository(t, { 'affine.ptl': fixture('affine.ptl') }), { tracing: true, grpcPort: 0 })
  const proto = fileURLToPath(new URL('../src/grpc/open_inference.proto', import.meta.url))
  const { inference } = grpc.loadPackageDefinition(loadSync(proto, { keepCase: true, defaults: true, oneofs: true })) as {
    inference: Grpc.GrpcObject
  }
  const Service = inference['GRPCInferenceService'] as Grpc.ServiceClientConstructor
  const client = new Service(`127.0.0.1:${server.grpcPort}`, grpc.credentials.createInsecure()) as unknown as Client
  t.teardown(() => client.close())
  const metadata = new grpc.Metadata()
  metadata.set('traceparent', `00-${TRACE}-${CALLER}-01`)
  for (const [name, code] of [
    ['affine', 0],
    ['none', 5],
  ] as const) {
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [1, 4], contents: { fp32_contents: [1, 2, 3, 4] } }]
    await new Promise((resolve) => client.ModelInfer({ model_name: name, inputs }, metadata, resolve))
    const request = spans().get('inference.GRPCInferenceService/ModelInfer')!
    t.equal(request.spanContext().traceId, TRACE)
    t.strictSame(request.attributes, {
      'rpc.system': 'grpc',
      'rpc.service': 'inference.GRPCInferenceService',
      'rpc.method': 'ModelInfer',
      'ptlite.model.name': name,
      'rpc.grpc.status_code': code,
    })
  }
})
