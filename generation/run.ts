import { PtliteError } from '../runtime/error.js'
import type { Context } from './context.js'
import type { Guesser } from './guessing.js'
import { type GenerationOptions, stopsOf } from './options.js'
import { likeliest, logProbability, Sampler } from './sampling/sampler.js'
import { StopStrings } from './text/stop-strings.js'
import { TextStream } from './text/text-stream.js'
import type { FinishReason, GeneratedToken, Generation, Usage } from './usage.js'

const MAX_TOKENS = 256
const DRAFT_TOKENS = 5

/** One generation: the prompt in chunks, then a token a step, or several that were guessed. A step begins when the tokens before it were taken, and is asked for more. */
export class Run implements Generation {
  /** Fulfils when nothing more will be generated. */
  readonly ended: Promise<void>
  private readonly inner: AsyncGenerator<GeneratedToken, undefined>
  private end: () => void = () => undefined
  private readonly sampler: Sampler
  private readonly stopTokens: ReadonlySet<number>
  private readonly text: TextStream | null
  private readonly stopStrings: StopStrings
  private cached = 0
  private completed = 0
  private accepted = 0
  private readonly began = performance.now()
  private firstAfter = 0
  private endedAfter: number | null = null
  private reason: FinishReason | null = null
  private stopToken: number | null = null

  constructor(
    private readonly context: Context,
    private guesser: Guesser | null,
    private readonly prompt: readonly number[],
    private readonly options: GenerationOptions,
    stops: readonly number[],
    private readonly afterwards: () => void = () => undefined,
  ) {
    const { tokens, strings } = stopsOf(options)
    this.sampler = new Sampler(options)
    this.stopTokens = new Set([...tokens, ...stops])
    this.stopStrings = new StopStrings(strings)
    this.text = options.tokenizer === undefined ? null : new TextStream(options.tokenizer, options.specialTokens)
    this.ended = new Promise((resolve) => (this.end = resolve))
    this.inner = this.tokens()
  }

  get usage(): Usage {
    return {
      promptTokens: this.prompt.length,
      cachedTokens: this.cached,
      completionTokens: this.completed,
      acceptedTokens: this.accepted,
      firstTokenMilliseconds: this.firstAfter,
      milliseconds: this.endedAfter ?? performance.now() - this.began,
      finishReason: this.reason,
      stop: this.stopToken ?? this.stopStrings.found,
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<GeneratedToken, undefined>> {
    try {
      const result = await this.inner.next()
      if (result.done === true) this.finish('length')
      return result
    } catch (error) {
      this.finish('cancelled')
      throw error
    }
  }

  async return(): Promise<IteratorResult<GeneratedToken, undefined>> {
    await this.inner.return(undefined)
    this.finish('cancelled')
    return { done: true, value: undefined }
  }

  private finish(reason: FinishReason): void {
    if (this.endedAfter !== null) return
    this.reason ??= reason
    this.endedAfter = performance.now() - this.began
    this.afterwards()
    this.end()
  }

  private async *tokens(): AsyncGenerator<GeneratedToken, undefined> {
    const { context, options } = this
    const { maxTokens = MAX_TOKENS, signal, chunk } = options
    const all = [...this.prompt]
    try {
      let guesses: readonly number[] = []
      let rows = await this.read()
      for (let row = 0; ; row++) {
        if (row === rows.length) {
          guesses = await this.guess(all, maxTokens, rows[0]!.length)
          rows = await context.see(guesses.length === 0 ? all : [...all, ...guesses], { rows: 1 + guesses.length, chunk, signal })
          row = 0
        }
        const logits = rows[row]!
        const raw = options.logprobs === true || options.topLogprobs !== undefined ? logits.slice() : null
        const token = this.sampler.next(logits, all)
        if (this.completed === 0) this.firstAfter = performance.now() - this.began
        if (this.stopTokens.has(token)) {
          this.reason = 'stop'
          this.stopToken = token
          break
        }
        all.push(token)
        if (token === guesses[row]) this.accepted++
        const isLast = ++this.completed >= maxTokens || all.length > context.steps.capacity
        const shown = this.shown(token, raw, isLast)
        yield shown
        if (this.stopStrings.found !== null) this.reason = 'stop'
        if (this.stopStrings.found !== null || isLast) return undefined
        // the rows behind another token are of no use
        if (row < guesses.length && guesses[row] !== token) row = guesses.length
      }
    } finally {
      // a caller that takes no more leaves guesses behind
      if (this.guesser !== null) context.goBack(all)
    }
    // the end of a token that was not whole, and what might have become a string that stops
    const rest = this.rest()
    if (rest !== '') yield { token: all.at(-1)!, text: rest }
    return undefined
  }

  /** A token as it is given. */
  private shown(token: number, raw: Float32Array | null, isLast: boolean): GeneratedToken {
    const { logprobs, topLogprobs } = this.options
    const known = {
      ...(raw !== null && logprobs === true && { logprob: logProbability(raw, token) }),
      ...(raw !== null && topLogprobs !== undefined && { top: likeliest(raw, topLogprobs) }),
    }
    if (this.text === null) return { token, ...known }
    let text = this.stopStrings.push(this.text.push(token))
    if (isLast && this.stopStrings.found === null) text += this.rest()
    return { token, ...known, text }
  }

  private rest(): string {
    if (this.text === null || this.stopStrings.found !== null) return ''
    return this.stopStrings.push(this.text.end()) + this.stopStrings.end()
  }

  /** Sees the prompt, but for what was seen before. */
  private async read(): Promise<readonly Float32Array[]> {
    const { context, prompt, options } = this
    const { capacity } = context.steps
    if (prompt.length > capacity)
      throw new PtliteError('LIMIT_EXCEEDED', `generate(): the model has room for ${capacity} tokens; the prompt has ${prompt.length}`)
    context.goBack(prompt, prompt.length - 1)
    this.cached = context.seen.length
    return context.see(prompt, options)
  }

  /** Tokens that may follow, as many as a call has room for, and as are asked for, up to the first that is none of the model's `vocabulary`. */
  private async guess(all: readonly number[], maxTokens: number, vocabulary: number): Promise<readonly number[]> {
    const { context, guesser, options } = this
    const { draftTokens = DRAFT_TOKENS, signal } = options
    if (guesser === null) return []
    context.goBack(all)
    // of a model that goes back by beginning anew nothing is gained
    if (context.seen.length < all.length - 1) this.guesser = null
    const { capacity, chunk, sizes } = context.steps
    const most = Math.min(draftTokens, maxTokens - this.completed - 1, capacity - all.length, chunk - 1)
    const room = sizes?.guesses(most) ?? most
    if (this.guesser === null || room < 1) return []
    const guesses = await guesser.guess(all, room, signal)
    const end = guesses.findIndex((token) => token >= vocabulary)
    const own = end < 0 ? guesses : guesses.slice(0, end)
    return own.slice(0, sizes?.guesses(own.length) ?? own.length)
  }
}
