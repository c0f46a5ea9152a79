import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServedModel } from '../models/served-model.js'
import { add } from '../models/statistics.js'
import { RequestError } from '../protocol/error.js'
import type { Ended, Piece, Sampling, Source, Vectors } from '../text/messages.js'
import type { RunningText, TextHost } from '../text/text-host.js'
import type { Blocks } from '../blocks.js'
import { type BodyBudget, parsedJson, readBody } from './body.js'
import { EventStream } from './event-stream.js'
import { connection } from './infer.js'

export interface TextContext {
  readonly budget: BodyBudget
  readonly blocks: Blocks
  /** false once the server ends: connections end with their answers. */
  readonly isOpen: () => boolean
  /** Of what nobody foresaw. */
  readonly onFault: (error: unknown) => void
}

export interface TextUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
}

/** A text that has come to its end. */
export interface FinishedText {
  readonly text: string
  readonly pieces: readonly Piece[]
  readonly ended: Ended
}

/** What is said of generated texts in one of the protocols; what is null is not said. */
export interface TextFormat {
  /** Before the first token of a text. */
  opening(index: number): object | null
  piece(index: number, piece: Piece): object | null
  closing(index: number, ended: Ended, usage: TextUsage): object | null
  /** Behind the last text. */
  trailing(usage: TextUsage): object | null
  /** The last event of a stream. */
  readonly done: string | null
  whole(texts: readonly FinishedText[], usage: TextUsage): object
  readonly error: (error: Error, status: number) => object
}

export interface TextCall {
  readonly model: ServedModel
  readonly host: TextHost
  /** One or several texts, which are continued each for itself. */
  readonly sources: readonly Source[]
  readonly sampling: Sampling
  readonly isStream: boolean
  readonly format: TextFormat
}

/** Bytes of a body with text: more than any model reads. */
const MAX_BODY = 16 << 20

/** What became of a request. */
export type Done = (status: number) => void

/** A request with JSON: reads it, and answers with an error where `handle` throws one. `handle` is told when it is over, and the body's memory can be used by others. */
export function withJson(
  context: TextContext,
  request: IncomingMessage,
  response: ServerResponse,
  errorBody: TextFormat['error'],
  handle: (value: unknown, done: Done) => void,
): void {
  readBody(request, context.budget, context.blocks, (error, body) => {
    let bytes = body?.bytes ?? 0
    const done = (): void => {
      context.budget.giveBack(bytes)
      bytes = 0
    }
    if (error !== null) {
      sendError(context, response, error, errorBody)
      return
    }
    try {
      handle(jsonOf(body!.json), done)
    } catch (thrown) {
      done()
      sendError(context, response, thrown as Error, errorBody)
    }
  })
}

function jsonOf(json: Buffer): unknown {
  if (json.length > MAX_BODY) throw new RequestError(413, `the body has ${json.length} bytes; at most ${MAX_BODY}`)
  return parsedJson(json)
}

/** Generates texts and answers with them, whole or as they come. Throws where there is no room for another request. */
export function answerTexts(context: TextContext, call: TextCall, request: IncomingMessage, response: ServerResponse, done: Done): void {
  new TextAnswer(context, call, request, response, done).start()
}

/** Vectors of texts. */
export function answerVectors(
  context: TextContext,
  { model, host, texts }: { readonly model: ServedModel; readonly host: TextHost; readonly texts: readonly (string | readonly number[])[] },
  format: { whole(vectors: Vectors): object; readonly error: TextFormat['error'] },
  request: IncomingMessage,
  response: ServerResponse,
  done: Done,
): void {
  const began = performance.now()
  const over = (status: number): void => {
    watch.end()
    note(model, status, began)
    done(status)
  }
  const running = host.embed(
    { texts },
    {
      embedded: (vectors) => {
        let answer: object
        try {
          answer = format.whole(vectors)
        } catch (error) {
          return over(sendError(context, response, error as Error, format.error))
        }
        over(sendJson(context, response, 200, answer))
      },
      failed: (error) => over(sendError(context, response, error, format.error)),
    },
  )
  const watch = watchClient(request, response, (error) => running.cancel(error))
}

class TextAnswer {
  private readonly began = performance.now()
  private readonly running: RunningText[] = []
  private readonly pieces: Piece[][]
  private readonly endings: (Ended | null)[]
  private readonly prompts: ({ readonly tokens: number; readonly cached: number } | null)[]
  private stream: EventStream | null = null
  private isOver = false
  private watch: { end(): void } | null = null

  constructor(
    private readonly context: TextContext,
    private readonly call: TextCall,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly done: Done,
  ) {
    this.pieces = call.sources.map(() => [])
    this.endings = call.sources.map(() => null)
    this.prompts = call.sources.map(() => null)
  }

  start(): void {
    const { call, request, response } = this
    this.watch = watchClient(request, response, (error) => this.fail(error))
    try {
      for (const [index, source] of call.sources.entries()) {
        if (this.isOver) return
        this.running.push(
          call.host.generate(
            { source, sampling: call.sampling },
            {
              began: (tokens, cached) => this.begin(index, tokens, cached),
              piece: (piece) => this.take(index, piece),
              ended: (ended) => this.end(index, ended),
              failed: (error) => this.fail(error),
            },
          ),
        )
      }
    } catch (error) {
      this.fail(error as Error)
    }
  }

  private get usage(): TextUsage {
    const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
    return {
      promptTokens: sum(this.prompts.map((each) => each?.tokens ?? 0)),
      cachedTokens: sum(this.prompts.map((each) => each?.cached ?? 0)),
      completionTokens: sum(this.endings.map((each) => each?.completionTokens ?? 0)),
    }
  }

  private begin(index: number, tokens: number, cached: number): void {
    if (this.isOver) return
    this.prompts[index] = { tokens, cached }
    const { call, context, response } = this
    if (!call.isStream) return
    this.stream ??= new EventStream(response, connection(context))
    this.send(call.format.opening(index))
  }

  private take(index: number, piece: Piece): void {
    if (this.isOver) return
    if (this.stream === null) this.pieces[index]!.push(piece)
    else this.send(this.call.format.piece(index, piece))
  }

  private end(index: number, ended: Ended): void {
    if (this.isOver) return
    this.endings[index] = ended
    const { call, context, response, stream } = this
    if (stream !== null) this.send(call.format.closing(index, ended, this.usage))
    if (this.endings.includes(null)) return
    if (stream === null) {
      const texts = this.pieces.map((pieces, i) => ({ text: pieces.map(({ text }) => text).join(''), pieces, ended: this.endings[i]! }))
      return this.over(sendJson(context, response, 200, call.format.whole(texts, this.usage)))
    }
    this.send(call.format.trailing(this.usage))
    if (call.format.done !== null) stream.write(call.format.done)
    stream.end()
    this.over(200)
  }

  private send(value: object | null): void {
    if (value !== null) this.stream?.send(value)
  }

  /** Ends all of it, once. */
  private fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    const { call, context, response, stream } = this
    let status: number
    if (stream === null) status = sendError(context, response, error, call.format.error)
    else {
      // the status has been sent: events say it
      status = statusOf(error)
      if (!(error instanceof RequestError)) context.onFault(error)
      stream.send(call.format.error(error, status))
      stream.end()
    }
    for (const each of this.running) each.cancel(error)
    this.over(status)
  }

  private over(status: number): void {
    this.isOver = true
    this.watch?.end()
    note(this.call.model, status, this.began)
    this.done(status)
  }
}

/** Tells when nobody waits for an answer any more: the client has gone, or its time is over. */
export function watchClient(request: IncomingMessage, response: ServerResponse, giveUp: (error: Error) => void): { end(): void } {
  const gone = (): void => giveUp(new RequestError(499, 'the client has gone'))
  response.on('close', gone)
  const ms = Number(request.headers['inference-timeout-ms'])
  const timer =
    ms > 0 && ms <= MAX_TIMEOUT ? setTimeout(() => giveUp(new RequestError(504, `the request was not answered within ${ms} ms`)), ms) : null
  return {
    end: () => {
      response.off('close', gone)
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** Milliseconds that a timer can wait for. */
const MAX_TIMEOUT = 2 ** 31 - 1

export function note({ statistics, metrics }: ServedModel, status: number, began: number): void {
  const ns = Math.round((performance.now() - began) * 1e6)
  statistics.lastInference = Date.now()
  if (status === 200) {
    statistics.inferenceCount++
    add(statistics.success, ns)
  } else add(statistics.fail, ns)
  metrics.answered(status)
}

function statusOf(error: Error): number {
  return error instanceof RequestError ? error.status : 500
}

/** Answers with an error, and gives its status. */
export function sendError(context: TextContext, response: ServerResponse, error: Error, errorBody: TextFormat['error']): number {
  const status = statusOf(error)
  if (status === 499) {
    // there is nobody to read it
    response.destroy()
    return status
  }
  if (!(error instanceof RequestError)) context.onFault(error)
  return sendJson(context, response, status, errorBody(error, status), error instanceof RequestError ? error.retryAfter : undefined)
}

export function sendJson(context: TextContext, response: ServerResponse, status: number, value: object, retryAfter?: number): number {
  const more = retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]
  return sendAs('application/json', context, response, status, JSON.stringify(value), more)
}

/** A text as it is. */
export function sendBody(context: TextContext, response: ServerResponse, text: string): number {
  return sendAs('text/plain; charset=utf-8', context, response, 200, text, [])
}

function sendAs(
  type: string,
  context: TextContext,
  response: ServerResponse,
  status: number,
  body: string,
  more: readonly string[],
): number {
  if (response.destroyed) return status
  response.writeHead(status, ['Content-Type', type, 'Content-Length', String(Buffer.byteLength(body)), ...more, ...connection(context)])
  response.end(body)
  return status
}
