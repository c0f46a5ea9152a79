/** Why nothing more is generated: a token or string of `stop`; `maxTokens` or the end of the model's cache; the caller, who asked for no more. */
export type FinishReason = 'stop' | 'length' | 'cancelled'

/** What a generation took so far, or in all. */
export interface Usage {
  readonly promptTokens: number
  /** Of these, what the cache had already. */
  readonly cachedTokens: number
  /** Without a token of `stop` that ended it. */
  readonly completionTokens: number
  /** Of these, tokens that `draft` had guessed. */
  readonly acceptedTokens: number
  /** Until the first token was there. */
  readonly firstTokenMilliseconds: number
  readonly milliseconds: number
  /** null while it goes on. */
  readonly finishReason: FinishReason | null
  /** The token or string of `stop` that ended it. */
  readonly stop: number | string | null
}

/** A token, and the logarithm of its probability. */
export interface TokenProbability {
  readonly token: number
  readonly logprob: number
}

/** A token, as it comes. */
export interface GeneratedToken {
  readonly token: number
  /** With the option `logprobs`: the logarithm of its probability. */
  readonly logprob?: number
  /** With the option `topLogprobs`: the likeliest tokens in its place, the likeliest one first. */
  readonly top?: readonly TokenProbability[]
  /** With the option `tokenizer`: the text that it completes, '' where it ends in the middle of a character. */
  readonly text?: string
}

/** Tokens as they are generated, for `for await`, with what they took. */
export interface Generation extends AsyncIterable<GeneratedToken> {
  readonly usage: Usage
  /** The next token: begins the step that computes it. */
  next(): Promise<IteratorResult<GeneratedToken, undefined>>
  /** Ends it, as leaving a loop does. */
  return(): Promise<IteratorResult<GeneratedToken, undefined>>
  [Symbol.asyncIterator](): Generation
}
