import type { FastifyInstance } from 'fastify'
import { Fields } from '../openai/fields.js'
import { MAX_CHARACTERS } from '../openai/inputs.js'
import { MAX_TOKENS, samplingOf } from '../openai/sampling.js'
import type { Repository } from '../models/repository.js'
import { invalid, RequestError } from '../protocol/error.js'
import type { Ended, Piece } from '../text/messages.js'
import { answerTexts, type FinishedText, type TextContext, type TextFormat, withJson } from './text-run.js'

/** What the generate extension of the protocol has where nothing is said. */
const DEFAULT_TOKENS = 20

interface ModelPath {
  readonly Params: { readonly model: string; readonly version?: string }
}

/** Answers `POST v2/models/NAME[/versions/VERSION]/generate` and `/generate_stream`, as KServe and Triton have them. */
export function generateRoutes(app: FastifyInstance, repository: Repository, context: TextContext): void {
  for (const path of ['/v2/models/:model', '/v2/models/:model/versions/:version'])
    for (const isStream of [false, true])
      app.post<ModelPath>(`${path}/generate${isStream ? '_stream' : ''}`, ({ params, raw }, reply) => {
        reply.hijack()
        withJson(context, raw, reply.raw, errorBody, (value, done) => {
          const model = repository.find(params.model, params.version)
          const host = model.text
          if (host?.task !== 'generate') throw invalid(`model '${model.name}' generates no text`)
          const fields = Fields.of(value)
          const text = fields.text('text_input', MAX_CHARACTERS)
          if (text === null || text === '') throw invalid('text_input: expected a text')
          const parameters = fields.object('parameters') ?? Fields.of({})
          const details = parameters.boolean('details')
          const sampling = samplingOf(parameters, parameters.integer('max_tokens', 1, MAX_TOKENS) ?? DEFAULT_TOKENS, details ? 0 : null)
          const format = new GenerateFormat(model.name, model.version, fields.text('id', 256), details)
          answerTexts(context, { model, host, sources: [{ text }], sampling, isStream, format }, raw, reply.raw, done)
        })
      })
}

function errorBody(error: Error, status: number): object {
  return { error: error instanceof RequestError || status < 500 ? error.message : 'internal error' }
}

class GenerateFormat implements TextFormat {
  readonly done = null
  readonly error = errorBody

  constructor(
    private readonly model: string,
    private readonly version: string,
    private readonly id: string | null,
    private readonly details: boolean,
  ) {}

  opening(): null {
    return null
  }

  piece(_index: number, piece: Piece): object {
    return this.answer(piece.text, piece.token === null ? null : { token: { text: piece.token.text, logprob: piece.token.logprob } })
  }

  closing(_index: number, ended: Ended): object | null {
    return this.details ? this.answer('', { finish_reason: reasonOf(ended) }) : null
  }

  trailing(): null {
    return null
  }

  whole([first]: readonly FinishedText[]): object {
    const { text, pieces, ended } = first!
    const tokens = pieces.flatMap(({ token }) => (token === null ? [] : [{ text: token.text, logprob: token.logprob }]))
    return this.answer(text, { finish_reason: reasonOf(ended), logprobs: tokens })
  }

  private answer(text: string, details: object | null): object {
    return {
      ...(this.id !== null && { id: this.id }),
      ...{ model_name: this.model, model_version: this.version, text_output: text },
      ...(this.details && details !== null && { details }),
    }
  }
}

function reasonOf({ reason, isString }: Ended): string {
  return reason === 'length' ? 'length' : isString ? 'stop_sequence' : 'eos_token'
}
