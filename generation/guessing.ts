import type { LanguageModel } from './language-model.js'
import { Context } from './context.js'
import { fixedSize } from './roles.js'
import { largest } from './sampling/sampler.js'
import { beginSteps } from './steps/begin.js'
import type { Steps } from './steps/steps.js'

/**
 * Guesses what follows, so that a model looks at several tokens in one call (speculative decoding: Leviathan et al., 2023). What it chooses stays its own: of the guesses those
 * are taken that are its choice, too.
 */
export interface Guesser {
  /** What may follow `tokens`: `count` at most, which is at least 1. */
  guess(tokens: readonly number[], count: number, signal: AbortSignal | undefined): Promise<readonly number[]>
  dispose(): void
}

/** A smaller model with the same tokens, or what followed the last tokens where they stood before. */
export type Draft = LanguageModel | 'prompt'

/** Throws INVALID_ARGUMENT for drafts that are no language models. */
export function beginGuessing(draft: Draft): Guesser {
  if (draft === 'prompt') return new LookUp()
  const logits = draft.outputs?.find(({ name }) => name === 'logits') ?? draft.outputs?.[0]
  return new DraftModel(beginSteps(draft, { given: new Map() }), fixedSize(logits?.shape?.at(-1)) ?? Infinity)
}

/** The longest end of the tokens that is looked for. */
const LONGEST = 3

/** Looks for the latest place before where the last tokens stood (Saxena, "Prompt Lookup Decoding", 2023). */
class LookUp implements Guesser {
  guess(tokens: readonly number[], count: number): Promise<readonly number[]> {
    for (let length = Math.min(LONGEST, tokens.length - 1); length > 0; length--) {
      const at = latest(tokens, length)
      if (at >= 0) return Promise.resolve(tokens.slice(at + length, at + length + count))
    }
    return Promise.resolve([])
  }

  dispose(): void {
    // keeps nothing
  }
}

/** Where the last `length` tokens stand before, for the last time; -1 where they do not. */
function latest(tokens: readonly number[], length: number): number {
  const end = tokens.length - length
  for (let at = end - 1; at >= 0; at--) {
    let i = 0
    while (i < length && tokens[at + i] === tokens[end + i]) i++
    if (i === length) return at
  }
  return -1
}

/** Takes the likeliest tokens of another model. */
class DraftModel implements Guesser {
  private readonly context: Context

  /** `vocabulary`: tokens that it knows, as far as is said before its first call. */
  constructor(
    private readonly steps: Steps,
    private vocabulary: number,
  ) {
    this.context = new Context(steps)
  }

  async guess(tokens: readonly number[], count: number, signal: AbortSignal | undefined): Promise<readonly number[]> {
    const guesses: number[] = []
    // of tokens that it does not know it cannot say what follows
    if (tokens.some((token) => token >= this.vocabulary)) return guesses
    while (guesses.length < count && tokens.length + guesses.length <= this.steps.capacity) {
      const [logits] = await this.context.see([...tokens, ...guesses], { signal })
      this.vocabulary = logits!.length
      guesses.push(largest(logits!))
    }
    return guesses
  }

  dispose(): void {
    this.steps.dispose()
  }
}
