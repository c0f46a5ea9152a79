import { quoted } from '../protocol/error.js'
import type { Source } from '../text/messages.js'
import { wrong } from './errors.js'
import type { Fields } from './fields.js'

/** Characters of a text; models have room for fewer. */
export const MAX_CHARACTERS = 1 << 20
const MAX_TOKENS = 1 << 20
const MAX_TOKEN = 2 ** 31 - 1

/** One text or several, each as a text or as tokens. Throws where there are more than `most`. */
export function inputsOf(fields: Fields, key: string, most: number): readonly Exclude<Source, { messages: unknown }>[] {
  const value = fields.get(key)
  if (value === undefined) throw wrong(key, 'is missing: expected a text, or tokens')
  if (!Array.isArray(value) || isTokens(value)) return [inputOf(value, key)]
  if (value.length === 0) throw wrong(key, 'expected at least one text, found none')
  if (value.length > most) throw wrong(key, `has ${value.length} texts; at most ${most}`)
  return value.map((each: unknown, i) => inputOf(each, `${key}[${i}]`))
}

function isTokens(value: readonly unknown[]): boolean {
  return value.length > 0 && value.every((each) => typeof each === 'number')
}

function inputOf(value: unknown, where: string): Exclude<Source, { messages: unknown }> {
  if (typeof value === 'string') {
    if (value === '') throw wrong(where, 'the text is empty')
    if (value.length > MAX_CHARACTERS) throw wrong(where, `has ${value.length} characters; at most ${MAX_CHARACTERS}`)
    return { text: value }
  }
  if (!Array.isArray(value) || !isTokens(value)) throw wrong(where, `expected a text, or tokens, found ${quoted(value)}`)
  if (value.length > MAX_TOKENS) throw wrong(where, `has ${value.length} tokens; at most ${MAX_TOKENS}`)
  const tokens = value as readonly number[]
  const odd = tokens.find((each) => !Number.isInteger(each) || each < 0 || each > MAX_TOKEN)
  if (odd !== undefined) throw wrong(where, `expected tokens, found ${odd}`)
  return { tokens }
}
