import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServedModel } from '../models/served-model.js'
import { errorBody } from '../openai/errors.js'
import type { ReadTranscription } from '../openai/transcriptions.js'
import { RequestError } from '../protocol/error.js'
import type { RunningText, TextHost } from '../text/text-host.js'
import { readBody } from './body.js'
import { EventStream } from './event-stream.js'
import { connection } from './infer.js'
import { type FormPart, formOf } from './multipart.js'
import { note, sendBody, sendError, sendJson, type TextContext, watchClient } from './text-run.js'

/** Bytes of a form: an hour of 16 bits at 16000 samples a second. */
const MOST_FORM = 128 << 20

/** A request with a form: reads it, and answers with an error where `handle` throws one. */
export function withForm(
  context: TextContext,
  request: IncomingMessage,
  response: ServerResponse,
  handle: (form: readonly FormPart[]) => void,
): void {
  readBody(request, context.budget, context.blocks, (error, body) => {
    if (error !== null) return void sendError(context, response, error, errorBody)
    try {
      if (body!.json.length > MOST_FORM) throw new RequestError(413, `the body has ${body!.json.length} bytes; at most ${MOST_FORM}`)
      handle(formOf(request.headers['content-type'], body!.json))
    } catch (thrown) {
      sendError(context, response, thrown as Error, errorBody)
    } finally {
      // what is handed on is a copy
      context.budget.giveBack(body!.bytes)
    }
  })
}

/** Transcribes a recording and answers with its text, whole or segment by segment. Throws where there is no room for another request. */
export function answerSpeech(
  context: TextContext,
  { model, host, read }: { readonly model: ServedModel; readonly host: TextHost; readonly read: ReadTranscription },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const began = performance.now()
  let stream: EventStream | null = null
  const over = (status: number): void => {
    watch.end()
    note(model, status, began)
  }
  const running: RunningText = host.transcribe(read.request, {
    segment: ({ text }) => {
      if (!read.isStream) return
      stream ??= new EventStream(response, connection(context))
      stream.send({ type: 'transcript.text.delta', delta: text })
    },
    transcribed: ({ transcription }) => {
      if (!read.isStream) {
        const answer = read.whole(transcription)
        over(typeof answer === 'string' ? sendBody(context, response, answer) : sendJson(context, response, 200, answer))
        return
      }
      stream ??= new EventStream(response, connection(context))
      stream.send({ type: 'transcript.text.done', text: transcription.text })
      stream.write('[DONE]')
      stream.end()
      over(200)
    },
    failed: (error) => {
      if (stream === null) return over(sendError(context, response, error, errorBody))
      const status = error instanceof RequestError ? error.status : 500
      if (!(error instanceof RequestError)) context.onFault(error)
      stream.send(errorBody(error, status))
      stream.end()
      over(status)
    },
  })
  const watch = watchClient(request, response, (error) => running.cancel(error))
}
