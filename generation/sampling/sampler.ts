import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { penalizeGenerated, penalizeRepetition } from './penalties.js'
import { randomFrom, type Random } from './random.js'
import type { TokenProbability } from '../usage.js'

/** How the next token is chosen. Without any of these it is the likeliest one. */
export interface SamplingOptions {
  /** Divides logits before one is drawn: below 1 likely tokens become likelier. 0 takes the likeliest one. 1 where another option asks for drawing, else 0. */
  readonly temperature?: number | undefined
  /** Draws from the so many likeliest tokens. */
  readonly topK?: number | undefined
  /** Draws from the likeliest tokens that together have this probability. */
  readonly topP?: number | undefined
  /** Draws from tokens at least so many times as likely as the likeliest one. */
  readonly minP?: number | undefined
  /** Draws from the tokens of the most typical information that together have this probability. */
  readonly typicalP?: number | undefined
  /** Divides the logits of tokens that there are already, in the prompt, too; 1.1 is much. */
  readonly repetitionPenalty?: number | undefined
  /** Is taken from a token's logit as often as it was generated. */
  readonly frequencyPenalty?: number | undefined
  /** Is taken once from the logit of each token that was generated. */
  readonly presencePenalty?: number | undefined
  /** A whole number that what is drawn follows from; without it every run draws anew. */
  readonly seed?: number | undefined
  /** May change the logits, float32[vocabulary], after penalties and before anything else; `tokens` are those of prompt and result so far. Values hold until the next token. */
  readonly logits?: ((values: Float32Array, tokens: readonly number[]) => void) | undefined
}

/** Chooses tokens: penalties, the caller's hook, temperature, top-k, top-p, min-p, typical, in the order of transformers' `generate`. */
export class Sampler {
  private readonly temperature: number
  private readonly random: Random
  private readonly counts = new Map<number, number>()

  constructor(private readonly options: SamplingOptions) {
    const { temperature, topK, topP, minP, typicalP, seed } = options
    const draws = [topK, topP, minP, typicalP, seed].some((option) => option !== undefined)
    this.temperature = temperature ?? (draws ? 1 : 0)
    this.random = seed === undefined ? Math.random : randomFrom(seed)
  }

  /** The token that follows `tokens`. Changes `logits`. Throws MODEL_ERROR where there is no number among them. */
  next(logits: Float32Array, tokens: readonly number[]): number {
    this.penalize(logits, tokens)
    const { temperature, random, options } = this
    const token = draw(logits, { ...options, temperature }, random())
    this.counts.set(token, (this.counts.get(token) ?? 0) + 1)
    return token
  }

  /** What penalties and the caller's hook leave of logits. */
  private penalize(logits: Float32Array, tokens: readonly number[]): void {
    const { repetitionPenalty = 1, frequencyPenalty = 0, presencePenalty = 0, logits: hook } = this.options
    if (repetitionPenalty !== 1) penalizeRepetition(logits, tokens, repetitionPenalty)
    if (frequencyPenalty !== 0 || presencePenalty !== 0) penalizeGenerated(logits, this.counts, frequencyPenalty, presencePenalty)
    hook?.(logits, tokens)
  }
}

/**
 * A token of those that the options' filters leave, as likely as it is, by a number in 0..1. Changes `logits`: they are divided by the temperature, and those that are not left
 * are -Infinity. Throws MODEL_ERROR where no logit is a number above that.
 */
export function draw(logits: Float32Array, options: SamplingOptions, number: number): number {
  const { temperature = 1, topK = 0, topP = 1, minP = 0, typicalP = 1 } = options
  const filters = { temperature, top_k: topK, top_p: topP, min_p: minP, typical_p: typicalP }
  const token = kernels.sample_token({ count: logits.length, ...filters, draw: number }, logits)
  if (token < 0) throw new PtliteError('MODEL_ERROR', 'generate(): the model gives no logit that is a number above -Infinity')
  return token
}

/** The first of the largest logits, as `torch.argmax` has it on a CPU. Throws MODEL_ERROR where there is none. */
export function largest(logits: Float32Array): number {
  return draw(logits, { temperature: 0 }, 0)
}

/** The logarithm of a token's probability, as the model has it (`torch.log_softmax`). */
export function logProbability(logits: Float32Array, token: number): number {
  return logits[token]! - logSumOf(logits)
}

/** The `count` likeliest tokens, or all where there are fewer, the likeliest one first; of equal ones the first. */
export function likeliest(logits: Float32Array, count: number): TokenProbability[] {
  const sum = logSumOf(logits)
  const found: number[] = []
  for (let token = 0; token < logits.length; token++) {
    if (found.length >= count && !(logits[token]! > logits[found.at(-1)!]!)) continue
    let at = found.length
    while (at > 0 && logits[token]! > logits[found[at - 1]!]!) at--
    found.splice(at, 0, token)
    if (found.length > count) found.pop()
  }
  return found.map((token) => ({ token, logprob: logits[token]! - sum }))
}

/** The logarithm of the sum of their exponentials (`torch.logsumexp`). */
function logSumOf(logits: Float32Array): number {
  let sum = 0
  const top = logits[largest(logits)]!
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i]! - top)
  return top + Math.log(sum)
}
