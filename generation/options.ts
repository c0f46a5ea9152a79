import { PtliteError } from '../runtime/error.js'
import { boolean, callback, checkOptions, count } from '../runtime/tensor/check-arguments.js'
import type { Draft } from './guessing.js'
import { isLanguageModel } from './language-model.js'
import type { SamplingOptions } from './sampling/sampler.js'
import { isTokenizer, type Tokenizer } from './text/tokenizer.js'

/** What is generated: how tokens are chosen, where it ends, and what is given with them. */
export interface GenerationOptions extends SamplingOptions {
  /** The most tokens that are generated; 256 where nothing is said. */
  readonly maxTokens?: number | undefined
  /** Tokens that end it, which are not given, and strings, which need `tokenizer`: nothing from the first of them on is given as text. */
  readonly stop?: number | string | readonly (number | string)[] | undefined
  /** Gives tokens with their text, for streaming. */
  readonly tokenizer?: Tokenizer | undefined
  /** Keeps special tokens in the text. */
  readonly specialTokens?: boolean | undefined
  /** Gives tokens with the logarithms of their probabilities, as the model has them. */
  readonly logprobs?: boolean | undefined
  /** Gives the so many likeliest tokens with each, 100 at most, as the model has them. */
  readonly topLogprobs?: number | undefined
  /** Ends it with ABORTED, whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Tokens of the prompt in one call, at most; 512 where nothing is said. */
  readonly chunk?: number | undefined
  /**
   * Guesses what follows, for the model to look at several tokens in one call: a smaller model that has the same tokens and takes nothing else, or 'prompt', what followed the
   * last tokens where they stood before. What is chosen stays the model's.
   */
  readonly draft?: Draft | undefined
  /** Tokens that it guesses at a time, at most; 5 where nothing is said. */
  readonly draftTokens?: number | undefined
}

const number =
  (least: number, most: number, text: string) =>
  (value: unknown): string | null =>
    typeof value === 'number' && value >= least && value <= most ? null : text
const share = number(Number.MIN_VALUE, 1, 'a number above 0 and up to 1')
const finite = number(-Number.MAX_VALUE, Number.MAX_VALUE, 'a number')
const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isStop = (value: unknown): boolean => isToken(value) || typeof value === 'string'
/** Of options that end what is under way. */
export const isSignal = (value: unknown): string | null =>
  typeof (value as Partial<AbortSignal> | null)?.aborted === 'boolean' ? null : 'an AbortSignal'
/** Of options that say what is drawn. */
export const isSeed = (value: unknown): string | null => (isToken(value) ? null : 'a whole number of at least 0')

const TESTS = {
  maxTokens: count,
  temperature: number(0, Number.MAX_VALUE, 'a number of at least 0'),
  topK: count,
  topP: share,
  minP: number(0, 1, 'a number from 0 to 1'),
  typicalP: share,
  repetitionPenalty: number(Number.MIN_VALUE, Number.MAX_VALUE, 'a number above 0'),
  frequencyPenalty: finite,
  presencePenalty: finite,
  seed: isSeed,
  stop: (value) => ((Array.isArray(value) ? value : [value]).every(isStop) ? null : 'tokens and strings'),
  tokenizer: isTokenizer,
  specialTokens: boolean,
  logprobs: boolean,
  topLogprobs: (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 100 ? null : 'a whole number from 1 to 100',
  logits: callback,
  signal: isSignal,
  chunk: count,
  draft: (value) => (value === 'prompt' || isLanguageModel(value) ? null : "a model or 'prompt'"),
  draftTokens: count,
} satisfies Record<keyof GenerationOptions, (value: unknown) => string | null>

/** Throws INVALID_ARGUMENT for unknown options, and for stop strings without a tokenizer. */
export function checkGeneration(options: GenerationOptions): void {
  checkOptions(options, TESTS, 'generate()')
  const { strings } = stopsOf(options)
  if (strings.length > 0 && options.tokenizer === undefined)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `generate(): to stop at ${JSON.stringify(strings[0]!.slice(0, 40))} takes a tokenizer; give it as the option tokenizer`,
    )
}

/** The tokens and the strings of `stop`. */
export function stopsOf({ stop = [] }: GenerationOptions): { readonly tokens: readonly number[]; readonly strings: readonly string[] } {
  const all = Array.isArray(stop) ? (stop as readonly (number | string)[]) : [stop as number | string]
  return {
    tokens: all.filter((one) => typeof one === 'number'),
    strings: all.filter((one) => typeof one === 'string'),
  }
}
