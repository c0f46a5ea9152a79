import type { FastifyInstance } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerSpeech, withForm } from '../http/speech-run.js'
import { answerTexts, answerVectors, type Done, type TextContext, withJson } from '../http/text-run.js'
import type { Repository } from '../models/repository.js'
import type { ServedModel } from '../models/served-model.js'
import { quoted, RequestError } from '../protocol/error.js'
import type { TextHost } from '../text/text-host.js'
import { readChat } from './chat.js'
import { readCompletion, type ReadRequest } from './completions.js'
import { readEmbeddings } from './embeddings.js'
import { ApiError, errorBody, wrong } from './errors.js'
import { Fields } from './fields.js'
import { readTranscription } from './transcriptions.js'

/** Answers what OpenAI's clients ask for: `/v1/models`, `/v1/completions`, `/v1/chat/completions`, `/v1/embeddings`, `/v1/audio/transcriptions`. */
export function openAiRoutes(app: FastifyInstance, repository: Repository, context: TextContext): void {
  app.get('/v1/models', () => ({ object: 'list', data: [...repository.served()].filter(isLatest(repository)).flatMap(described) }))
  app.get<{ Params: { model: string } }>('/v1/models/:model', ({ params: { model } }) => described(find(repository, model))[0])
  const texts = (path: string, read: (fields: Fields, model: string) => ReadRequest): void => {
    post(app, path, context, (fields, request, response, done) => {
      const { name, model, host } = modelOf(repository, fields, 'generate')
      answerTexts(context, { model, host, ...read(fields, name) }, request, response, done)
    })
  }
  texts('/v1/completions', readCompletion)
  texts('/v1/chat/completions', readChat)
  post(app, '/v1/embeddings', context, (fields, request, response, done) => {
    const { name, model, host } = modelOf(repository, fields, 'embed')
    const { texts, whole } = readEmbeddings(fields, name)
    answerVectors(context, { model, host, texts }, { whole, error: errorBody }, request, response, done)
  })
  for (const [path, task] of [
    ['/v1/audio/transcriptions', 'transcribe'],
    ['/v1/audio/translations', 'translate'],
  ] as const)
    app.post(path, ({ raw }, reply) => {
      reply.hijack()
      withForm(context, raw, reply.raw, (form) => {
        const read = readTranscription(form, task)
        const { model, host } = modelCalled(repository, read.model, 'transcribe')
        answerSpeech(context, { model, host, read }, raw, reply.raw)
      })
    })
  app.post('/v1/audio/speech', () => {
    throw new ApiError(404, 'this server has no models that speak; ask for the tensors of one: POST /v2/models/NAME/infer')
  })
}

function post(
  app: FastifyInstance,
  path: string,
  context: TextContext,
  answer: (fields: Fields, request: IncomingMessage, response: ServerResponse, done: Done) => void,
): void {
  app.post(path, (request, reply) => {
    reply.hijack()
    const { raw } = request
    withJson(context, raw, reply.raw, errorBody, (value, done) => answer(Fields.of(value), raw, reply.raw, done))
  })
}

/** The latest versions stand for their models. */
function isLatest(repository: Repository): (model: ServedModel) => boolean {
  return (model) => repository.find(model.name, undefined) === model
}

function described({ name, text }: ServedModel): object[] {
  return text === null ? [] : [{ id: name, object: 'model', created: text.since, owned_by: 'ptlite' }]
}

/** `NAME`, or `NAME:VERSION`. */
function find(repository: Repository, id: string): ServedModel & { readonly text: TextHost } {
  const [name = '', version, ...more] = id.split(':')
  let model: ServedModel
  try {
    model = repository.find(name, more.length > 0 ? 'none' : version)
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) throw new ApiError(404, error.message, 'model', 'model_not_found')
    throw error
  }
  if (model.text === null)
    throw new ApiError(
      404,
      `model ${quoted(name)} takes tensors; one that takes text has "text" in its config.json`,
      'model',
      'model_not_found',
    )
  return model as ServedModel & { readonly text: TextHost }
}

function modelOf(
  repository: Repository,
  fields: Fields,
  task: TextHost['task'],
): { readonly name: string; readonly model: ServedModel; readonly host: TextHost } {
  const name = fields.text('model', 256)
  if (name === null) throw wrong('model', 'is missing')
  return modelCalled(repository, name, task)
}

const DOES = { generate: 'generates text', embed: 'gives vectors', transcribe: 'transcribes speech' } as const
const LACKS = { generate: 'generates no text', embed: 'gives no vectors', transcribe: 'transcribes no speech' } as const

function modelCalled(
  repository: Repository,
  name: string,
  task: TextHost['task'],
): { readonly name: string; readonly model: ServedModel; readonly host: TextHost } {
  const model = find(repository, name)
  if (model.text.task !== task) throw wrong('model', `${quoted(name)} ${DOES[model.text.task]}, and ${LACKS[task]}`)
  return { name, model, host: model.text }
}
