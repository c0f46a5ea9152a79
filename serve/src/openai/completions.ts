import { randomUUID } from 'node:crypto'
import type { FinishedText, TextFormat, TextUsage } from '../http/text-run.js'
import type { Ended, Piece, Sampling, Source } from '../text/messages.js'
import { errorBody } from './errors.js'
import type { Fields } from './fields.js'
import { inputsOf } from './inputs.js'
import { MAX_TOKENS, refuse, samplingOf } from './sampling.js'
import { usageOf } from './usage.js'

const MAX_PROMPTS = 64
/** What OpenAI's interface has where nothing is said. */
const DEFAULT_TOKENS = 16

export interface ReadRequest {
  readonly sources: readonly Source[]
  readonly sampling: Sampling
  readonly isStream: boolean
  readonly format: TextFormat
}

/** `POST /v1/completions`. Throws what is wrong with it. */
export function readCompletion(fields: Fields, model: string): ReadRequest {
  refuse(fields, { n: [1], best_of: [1], echo: [false], suffix: [''] })
  const logprobs = fields.integer('logprobs', 0, 20)
  const isStream = fields.boolean('stream')
  return {
    sources: inputsOf(fields, 'prompt', MAX_PROMPTS),
    sampling: samplingOf(fields, fields.integer('max_tokens', 1, MAX_TOKENS) ?? DEFAULT_TOKENS, logprobs),
    isStream,
    format: new CompletionFormat(model, fields.object('stream_options')?.boolean('include_usage') ?? false),
  }
}

class CompletionFormat implements TextFormat {
  readonly done = '[DONE]'
  readonly error = errorBody
  private readonly id = `cmpl-${randomUUID()}`
  private readonly created = Math.floor(Date.now() / 1000)
  /** Characters of each text so far. */
  private readonly lengths = new Map<number, number>()

  constructor(
    private readonly model: string,
    private readonly includeUsage: boolean,
  ) {}

  opening(): null {
    return null
  }

  piece(index: number, piece: Piece): object {
    const from = this.lengths.get(index) ?? 0
    this.lengths.set(index, from + piece.text.length)
    return this.chunk([{ text: piece.text, index, logprobs: logprobsOf([piece], from), finish_reason: null }])
  }

  closing(index: number, { reason }: Ended): object {
    return this.chunk([{ text: '', index, logprobs: null, finish_reason: reason }])
  }

  trailing(usage: TextUsage): object | null {
    return this.includeUsage ? this.chunk([], usage) : null
  }

  whole(texts: readonly FinishedText[], usage: TextUsage): object {
    const choices = texts.map(({ text, pieces, ended: { reason } }, index) => ({
      ...{ text, index, logprobs: logprobsOf(pieces, 0), finish_reason: reason },
    }))
    return { ...this.head, choices, usage: usageOf(usage) }
  }

  private get head(): object {
    return { id: this.id, object: 'text_completion', created: this.created, model: this.model }
  }

  private chunk(choices: readonly object[], usage?: TextUsage): object {
    return { ...this.head, choices, ...(this.includeUsage && { usage: usage === undefined ? null : usageOf(usage) }) }
  }
}

/** As the older of both interfaces has them; null where they were not asked for. */
function logprobsOf(pieces: readonly Piece[], from: number): object | null {
  const found = {
    tokens: [] as string[],
    token_logprobs: [] as number[],
    top_logprobs: [] as Record<string, number>[],
    text_offset: [] as number[],
  }
  let offset = from
  for (const { text, token } of pieces) {
    if (token !== null) {
      found.tokens.push(token.text)
      found.token_logprobs.push(token.logprob)
      found.top_logprobs.push(Object.fromEntries(token.top.map((each) => [each.text, each.logprob])))
      found.text_offset.push(offset)
    }
    offset += text.length
  }
  return found.tokens.length === 0 ? null : found
}
