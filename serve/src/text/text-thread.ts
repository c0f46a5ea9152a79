/** The thread of a language model: generates what it is asked for, many sequences at a time, step by step. */
import { parentPort, workerData } from 'node:worker_threads'
import { failureOf } from '../workers/hosted-model.js'
import { giveWay } from '../workers/priority.js'
import type { EmbedRequest, GenerateRequest, TextReply, TextRequest, TextStart } from './messages.js'
import { TextModel } from './text-model.js'

const start = workerData as TextStart
giveWay(start.nice)

const port = parentPort!
const running = new Map<number, AbortController>()

function reply(message: TextReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

async function load(): Promise<TextModel | null> {
  try {
    const warn = (text: string): void => reply({ kind: 'warning', text })
    const model = await TextModel.load(start, warn, () => reply({ kind: 'step' }))
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

const model = await load()

port.on('message', (request: TextRequest) => {
  const { kind, id } = request
  if (kind === 'cancel') {
    running.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  running.set(id, controller)
  const work = kind === 'generate' ? generate(model!, request, controller.signal) : embed(model!, request, controller.signal)
  work
    .catch((error: unknown) => reply({ kind: 'failed', id, failure: failureOf(error) }))
    .finally(() => running.delete(id))
    .catch(() => undefined)
})
