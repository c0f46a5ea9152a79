import type { Context } from '../../generation/context.js'
import type { Random } from '../../generation/sampling/random.js'
import { draw, largest, logProbability } from '../../generation/sampling/sampler.js'
import { compressionRatioOf } from './compression.js'
import { applyRules } from './rules.js'
import type { SpecialTokens } from './special-tokens.js'

/** How a window is read. */
export interface WindowOptions {
  readonly special: SpecialTokens
  readonly hasTimes: boolean
  readonly temperatures: readonly number[]
  readonly compressionRatio: number
  readonly averageLogprob: number
  readonly noSpeech: number
  readonly random: Random
  readonly signal: AbortSignal | undefined
}

/** What was found in a window. */
export interface ReadWindow {
  /** Without the end. */
  readonly tokens: readonly number[]
  readonly averageLogprob: number
  readonly compressionRatio: number
  readonly noSpeechProbability: number
  readonly temperature: number
  /** Nobody speaks. */
  readonly isSilent: boolean
}

/**
 * The tokens of a window, behind a prompt whose tokens from `start` on begin the transcript. As long as they repeat themselves or are unlikely they are drawn again, at the next temperature. `begun` is told that
 * tokens begin from anew.
 */
export async function readWindow(
  context: Context,
  prompt: readonly number[],
  start: number,
  options: WindowOptions,
  begun: () => void,
): Promise<ReadWindow> {
  const { special, temperatures, signal } = options
  // the model says behind the first token of the transcript whether anybody speaks
  const [atStart] = await context.see(prompt.slice(0, start + 1), { signal })
  const noSpeechProbability = Math.exp(logProbability(atStart!, special.noSpeech))
  const [last] = start + 1 < prompt.length ? await context.see(prompt, { signal }) : [atStart]
  // logits hold until the next call, and each temperature begins with these
  const first = last!.slice()
  for (const [i, temperature] of temperatures.entries()) {
    if (i > 0) {
      context.goBack(prompt)
      if (context.seen.length < prompt.length) await context.see(prompt, { signal })
    }
    begun()
    const { tokens, averageLogprob, vocabulary } = await continued(context, first.slice(), prompt, temperature, options)
    const compressionRatio = await compressionRatioOf(tokens, vocabulary)
    const isUnlikely = averageLogprob < options.averageLogprob
    const isSilent = isUnlikely && noSpeechProbability > options.noSpeech
    const isGood = !isUnlikely && compressionRatio <= options.compressionRatio
    if (!isGood && !isSilent && i < temperatures.length - 1) continue
    const text = tokens.at(-1) === special.end ? tokens.slice(0, -1) : tokens
    return { tokens: text, averageLogprob, compressionRatio, noSpeechProbability, temperature, isSilent }
  }
  throw new Error('no temperatures')
}

async function continued(
  context: Context,
  first: Float32Array,
  prompt: readonly number[],
  temperature: number,
  { special, hasTimes, random, signal }: WindowOptions,
): Promise<{ readonly tokens: number[]; readonly averageLogprob: number; readonly vocabulary: number }> {
  const tokens: number[] = []
  const most = Math.min(special.most, context.steps.capacity + 1) - prompt.length
  let sum = 0
  let logits = first
  for (;;) {
    applyRules(logits, tokens, special, hasTimes)
    const token = temperature === 0 ? largest(logits) : draw(logits.slice(), { temperature }, random())
    sum += logProbability(logits, token)
    tokens.push(token)
    if (token === special.end || tokens.length >= most) break
    const [next] = await context.see([...prompt, ...tokens], { signal })
    logits = next!
  }
  return { tokens, averageLogprob: sum / tokens.length, vocabulary: logits.length }
}
