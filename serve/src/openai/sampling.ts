import { quoted } from '../protocol/error.js'
import type { Sampling } from '../text/messages.js'
import { wrong } from './errors.js'
import { itemsOf, SchemaError } from '../text/json/schema.js'
import { checkDepth, type Fields } from './fields.js'

const MAX_STOPS = 16
const MAX_STOP = 1000
const MAX_BIASES = 1024
/** Tokens that may be asked for; models have room for fewer. */
export const MAX_TOKENS = 1 << 24

/** How tokens are chosen: fields that completions and chats have in common, and three of other servers' (`top_k`, `min_p`, `repetition_penalty`). */
export function samplingOf(fields: Fields, maxTokens: number | null, logprobs: number | null): Sampling {
  const topP = fields.number('top_p', 0, 1)
  // of the likeliest token alone
  const isGreedy = topP === 0
  const seed = fields.integer('seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  return {
    maxTokens,
    temperature: isGreedy ? 0 : (fields.number('temperature', 0, 2) ?? 1),
    topP: isGreedy ? null : topP,
    topK: positive(fields.integer('top_k', -1, Number.MAX_SAFE_INTEGER)),
    minP: fields.number('min_p', 0, 1),
    repetitionPenalty: fields.number('repetition_penalty', 0.01, 100),
    frequencyPenalty: fields.number('frequency_penalty', -2, 2) ?? 0,
    presencePenalty: fields.number('presence_penalty', -2, 2) ?? 0,
    seed: seed === null || seed >= 0 ? seed : Number.MAX_SAFE_INTEGER + seed + 1,
    stop: stopsOf(fields),
    bias: biasOf(fields),
    logprobs,
    json: jsonOf(fields),
  }
}

/** `response_format`. Throws where a schema says what is not supported. */
function jsonOf(fields: Fields): Sampling['json'] {
  const format = fields.object('response_format')
  const type = format?.oneOf('type', 'text', 'json_object', 'json_schema') ?? 'text'
  if (type === 'text') return null
  if (type === 'json_object') return { schema: null }
  checkDepth(fields.value)
  const schema = format!.object('json_schema')?.object('schema')
  if (schema === undefined || schema === null) throw wrong('response_format.json_schema.schema', 'is missing')
  try {
    itemsOf(schema.value)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    throw wrong('response_format', error.message)
  }
  return { schema: schema.value }
}

/** Some clients say 0 or -1 for all. */
function positive(count: number | null): number | null {
  return count === null || count <= 0 ? null : count
}

function stopsOf(fields: Fields): readonly string[] {
  const value = fields.get('stop')
  const list = typeof value === 'string' ? [value] : (fields.list('stop', MAX_STOPS) ?? [])
  for (const each of list)
    if (typeof each !== 'string' || each === '' || each.length > MAX_STOP)
      throw wrong('stop', `expected texts of 1 to ${MAX_STOP} characters, found ${quoted(each)}`)
  return list as readonly string[]
}

function biasOf(fields: Fields): Sampling['bias'] {
  const biases = [...(fields.object('logit_bias')?.entries() ?? [])]
  if (biases.length > MAX_BIASES) throw wrong('logit_bias', `has ${biases.length} tokens; at most ${MAX_BIASES}`)
  return biases.map(([key, value]) => {
    if (!/^\d{1,9}$/.test(key)) throw wrong('logit_bias', `expected tokens, which are numbers, found ${quoted(key)}`)
    if (typeof value !== 'number' || !(Math.abs(value) <= 100))
      throw wrong('logit_bias', `expected numbers from -100 to 100, found ${quoted(value)}`)
    return [Number(key), value] as const
  })
}

/** Refuses what would give another answer than the client thinks. */
export function refuse(fields: Fields, values: Readonly<Record<string, readonly unknown[]>>): void {
  for (const [key, harmless] of Object.entries(values)) {
    const value = fields.get(key)
    if (value !== undefined && !harmless.includes(value))
      throw wrong(
        key,
        `this server does not have it${harmless.length > 0 ? ` other than ${harmless.map((each) => JSON.stringify(each)).join(', ')}` : ''}, found ${quoted(value)}`,
      )
  }
}
