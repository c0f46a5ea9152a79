import type { IncomingMessage, ServerResponse } from 'node:http'
import { inferAnswer } from '../protocol/answer.js'
import { invalid, RequestError } from '../protocol/error.js'
import { InexpressibleError } from '../protocol/json-text.js'
import { parseInferRequest } from '../protocol/parse.js'
import { rawRequest } from '../protocol/raw.js'
import type { InferRequest } from '../protocol/tensor.js'
import type { Inference, Inferred } from '../inference.js'
import type { ServedModel } from '../models/served-model.js'
import type { Traceable, Tracing } from '../tracing.js'
import type { Blocks } from '../blocks.js'
import { type Body, type BodyBudget, parsedJson, readBody } from './body.js'
import type { Outbox } from './outbox.js'

export interface InferContext {
  readonly inference: Inference
  readonly budget: BodyBudget
  readonly blocks: Blocks
  readonly outbox: Outbox
  readonly find: (name: string, version: string | undefined) => ServedModel
  readonly tracing: Tracing | null
  /** false once the server ends: connections end with their answers. */
  readonly isOpen: () => boolean
  /** Of what nobody foresaw. */
  readonly onFault: (error: unknown) => void
}

/** Answers `POST v2/models/NAME[/versions/VERSION]/infer`. */
export function answerInfer(
  context: InferContext,
  name: string,
  version: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { budget } = context
  const span = context.tracing?.start(traceable(request, version), name, version) ?? null
  readBody(request, budget, context.blocks, (error, body) => {
    let bytes = body?.bytes ?? 0
    const finish = (fault: Error | null, result: Inferred | null, id?: string): void => {
      budget.giveBack(bytes)
      bytes = 0
      const status = fault === null && result !== null ? sendResult(context, response, result, id) : sendError(context, response, fault!)
      span?.end({ http: status })
      result?.model.metrics.answered(status)
      if (result === null) countFailure(context, name, version, status)
    }
    if (error !== null) return finish(error, null)
    try {
      const parsed = requestOf(context, name, version, body!)
      const running = context.inference.start(name, version, parsed, timeoutOf(request), span, (fault, result) =>
        finish(fault, result, parsed.id),
      )
      if (running !== null)
        response.on('close', () => {
          if (!response.writableFinished) running.cancel()
        })
    } catch (thrown) {
      finish(thrown as Error, null)
    }
  })
}

function traceable({ headers, url }: IncomingMessage, version: string | undefined): Traceable {
  const route = version === undefined ? '/v2/models/{model}/infer' : '/v2/models/{model}/versions/{version}/infer'
  return { kind: 'http', method: 'POST', path: url!, route, headers }
}

function requestOf({ find }: InferContext, name: string, version: string | undefined, { json, binary }: Body): InferRequest {
  if (json.length === 0 && binary !== null) return rawRequest(find(name, version).facts.inputs, binary)
  return parseInferRequest(parsedJson(json), binary)
}

function timeoutOf({ headers }: IncomingMessage): number | null {
  const value = headers['inference-timeout-ms']
  if (value === undefined) return null
  const ms = Number(value)
  if (!(ms > 0)) throw invalid('expected Inference-Timeout-Ms to be a number of milliseconds')
  return ms
}

function sendResult(context: InferContext, response: ServerResponse, { model, outputs }: Inferred, id: string | undefined): number {
  let answer
  try {
    answer = inferAnswer(model.name, model.version, id, outputs)
  } catch (error) {
    return sendError(context, response, error instanceof InexpressibleError ? invalid(error.message) : (error as Error))
  }
  const { body, headerLength } = answer
  if (headerLength === null) return send(context, response, 200, body)
  if (response.destroyed) return 200
  response.writeHead(200, [
    ...CONTENT_BINARY,
    String(body.length),
    'Inference-Header-Content-Length',
    String(headerLength),
    ...connection(context),
  ])
  context.outbox.end(response, body)
  return 200
}

/** Answers with an error. */
function sendError(context: InferContext, response: ServerResponse, error: Error): number {
  if (error instanceof RequestError) {
    // there is nobody to read it
    if (error.status === 499) {
      response.destroy()
      return 499
    }
    return send(context, response, error.status, errorText(error.message), error.retryAfter)
  }
  context.onFault(error)
  return send(context, response, 500, errorText('internal error'))
}

function errorText(message: string): string {
  return JSON.stringify({ error: message })
}

function send(context: InferContext, response: ServerResponse, status: number, body: string | Buffer, retryAfter?: number): number {
  if (response.destroyed) return status
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const head = [...CONTENT_JSON, String(length), ...connection(context)]
  if (retryAfter !== undefined) head.push('Retry-After', String(retryAfter))
  response.writeHead(status, head)
  context.outbox.end(response, body)
  return status
}

/** Fields of a head: connections end with their answers once the server ends. */
export function connection({ isOpen }: Pick<InferContext, 'isOpen'>): readonly string[] {
  return isOpen() ? OPEN : CLOSING
}

/** Heads as lists of names and values, which need no look at each field. */
const CONTENT_JSON = ['Content-Type', 'application/json', 'Content-Length']
const CONTENT_BINARY = ['Content-Type', 'application/octet-stream', 'Content-Length']
const OPEN: readonly string[] = []
const CLOSING: readonly string[] = ['Connection', 'close']

/** Requests for unknown models are nobody's. */
function countFailure({ find }: InferContext, name: string, version: string | undefined, status: number): void {
  try {
    find(name, version).metrics.answered(status)
  } catch {
    // as above
  }
}
