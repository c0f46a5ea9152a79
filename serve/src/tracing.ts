import type { IncomingHttpHeaders } from 'node:http'
import { SERVE_VERSION } from './version.js'

export interface Traced {
  /** `status`: of HTTP, or what is like it in gRPC. */
  end(status: number): void
}

/** Spans for whatever OpenTelemetry SDK the process has. */
export interface Tracing {
  /** `headers` may name the caller's span. */
  start(name: string, headers: IncomingHttpHeaders | Record<string, unknown>, attributes: Record<string, string>): Traced
}

/** Throws where the package is not installed. */
export async function openTracing(): Promise<Tracing> {
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer('@ptlite/serve', SERVE_VERSION)
  return {
    start(name, headers, attributes) {
      const parent = propagation.extract(context.active(), headers)
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent)
      return {
        end(status) {
          span.setAttribute('http.response.status_code', status)
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
  }
}
