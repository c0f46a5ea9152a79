/** The thread of a language model: generates what it is asked for, many sequences at a time, step by step. */
import { parentPort, workerData } from 'node:worker_threads'
import { failureOf } from '../workers/hosted-model.js'
import { giveWay } from '../workers/priority.js'
import type { EmbedRequest, GenerateRequest, TextReply, TextRequest, TextStart, TranscribeRequest } from './messages.js'
import { SpeechModel } from './speech-model.js'
import { TextModel } from './text-model.js'

const start = workerData as TextStart
giveWay(start.nice)

const port = parentPort!
const running = new Map<number, AbortController>()

function reply(message: TextReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

async function load(): Promise<TextModel | SpeechModel | null> {
  try {
    const warn = (text: string): void => reply({ kind: 'warning', text })
    const onStep = (): void => reply({ kind: 'step' })
    const model = await (start.config.task === 'transcribe' ? SpeechModel : TextModel).load(start, warn, onStep)
    reply({ kind: 'loaded', failure: null, hasTemplate: model.hasTemplate })
    return model
  } catch (error) {
    reply({ kind: 'loaded', failure: failureOf(error), hasTemplate: false })
    return null
  }
}

async function generate(model: TextModel, request: GenerateRequest, signal: AbortSignal): Promise<void> {
  const { id } = request
  const ended = await model.generate(request, signal, {
    began: (promptTokens, cachedTokens) => reply({ kind: 'began', id, promptTokens, cachedTokens }),
    piece: (piece) => reply({ kind: 'piece', id, piece }),
  })
  reply({ kind: 'ended', id, ...ended })
}

async function embed(model: TextModel, request: EmbedRequest, signal: AbortSignal): Promise<void> {
  const vectors = await model.embed(request, signal)
  reply({ kind: 'embedded', id: request.id, ...vectors }, [vectors.data.buffer as ArrayBuffer])
}

async function transcribe(model: SpeechModel, request: TranscribeRequest, signal: AbortSignal): Promise<void> {
  const { id } = request
  reply({ kind: 'began', id, promptTokens: 0, cachedTokens: 0 })
  const transcribed = await model.transcribe(request, signal, (segment) => reply({ kind: 'segment', id, segment }))
  reply({ kind: 'transcribed', id, ...transcribed })
}

/** A host asks of a model what its task is alone. */
function work(request: Exclude<TextRequest, { kind: 'cancel' }>, signal: AbortSignal): Promise<void> {
  if (request.kind === 'transcribe') return transcribe(model as SpeechModel, request, signal)
  const text = model as TextModel
  return request.kind === 'generate' ? generate(text, request, signal) : embed(text, request, signal)
}

const model = await load()

port.on('message', (request: TextRequest) => {
  const { kind, id } = request
  if (kind === 'cancel') {
    running.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  running.set(id, controller)
  work(request, controller.signal)
    .catch((error: unknown) => reply({ kind: 'failed', id, failure: failureOf(error) }))
    .finally(() => running.delete(id))
    .catch(() => undefined)
})
