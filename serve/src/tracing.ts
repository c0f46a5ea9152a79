import type { IncomingHttpHeaders } from 'node:http'
import { SERVE_VERSION } from './version.js'

/** Takes what becomes of one request. */
export interface Traced {
  /** A part of it, between two times of `performance.now()`. */
  stage(name: 'queue' | 'run', began: number, ended: number, attributes?: Record<string, number>): void
  end(status: Status): void
}

export type Status = { readonly http: number } | { readonly grpc: number; readonly isFault: boolean }

/** What kind of request a span is of. `headers` may name the caller's span. */
export type Traceable =
  | { readonly kind: 'http'; readonly method: string; readonly path: string; readonly route: string; readonly headers: IncomingHttpHeaders }
  | { readonly kind: 'grpc'; readonly service: string; readonly method: string; readonly headers: Record<string, unknown> }

/** Spans for whatever OpenTelemetry SDK the process has. */
export interface Tracing {
  start(request: Traceable, model: string, version: string | undefined): Traced
}

/** Names of attributes are those of OpenTelemetry's semantic conventions for HTTP and for RPC. Throws where the package is not installed. */
export async function openTracing(): Promise<Tracing> {
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer('@ptlite/serve', SERVE_VERSION)
  return {
    start(request, model, version) {
      const parent = propagation.extract(context.active(), request.headers)
      const { name, attributes } = described(request)
      const own = { 'ptlite.model.name': model, ...(version ? { 'ptlite.model.version': version } : {}) }
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: { ...attributes, ...own } }, parent)
      const within = trace.setSpan(parent, span)
      return {
        stage(stage, began, ended, given = {}) {
          tracer.startSpan(stage, { startTime: dateOf(began), attributes: given }, within).end(dateOf(ended))
        },
        end(status) {
          const isHttp = 'http' in status
          span.setAttribute(isHttp ? 'http.response.status_code' : 'rpc.grpc.status_code', isHttp ? status.http : status.grpc)
          if (isHttp ? status.http >= 500 : status.isFault) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
  }
}

function described(request: Traceable): { readonly name: string; readonly attributes: Record<string, string> } {
  if (request.kind === 'grpc') {
    const { service, method } = request
    return { name: `${service}/${method}`, attributes: { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method } }
  }
  const { method, path, route } = request
  return {
    name: `${method} ${route}`,
    attributes: { 'http.request.method': method, 'url.path': path, 'http.route': route },
  }
}

/** A time of `performance.now()` in milliseconds since the epoch, by the clock of now: that of the process's start drifts away from it. */
function dateOf(milliseconds: number): number {
  return Date.now() - (performance.now() - milliseconds)
}
