import { PtliteError } from '../runtime/error.js'
import { type GenerationOptions, stopsOf } from './options.js'
import { likeliest, logProbability, Sampler } from './sampling/sampler.js'
import type { Steps } from './steps/steps.js'
import { StopStrings } from './text/stop-strings.js'
import { TextStream } from './text/text-stream.js'
import type { FinishReason, GeneratedToken, Generation, Usage } from './usage.js'

const MAX_TOKENS = 256
const CHUNK = 512

/** One generation: the prompt in chunks, then a token a step. A step begins when the token before it was taken, and is asked for more. */
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
  private readonly began = performance.now()
  private firstAfter = 0
  private endedAfter: number | null = null
  private reason: FinishReason | null = null
  private stopToken: number | null = null

  /** `seen` is what the steps have seen, to be kept so. */
  constructor(
    private readonly steps: Steps,
    private readonly seen: number[],
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
    const { maxTokens = MAX_TOKENS, signal } = this.options
    const all = [...this.prompt]
    let logits = await this.read()
    for (;;) {
      const raw = this.options.logprobs === true || this.options.topLogprobs !== undefined ? logits.slice() : null
      const token = this.sampler.next(logits, all)
      if (this.completed === 0) this.firstAfter = performance.now() - this.began
      if (this.stopTokens.has(token)) {
        this.reason = 'stop'
        this.stopToken = token
        break
      }
      all.push(token)
      const isLast = ++this.completed >= maxTokens || this.steps.length >= this.steps.capacity
      const shown = this.shown(token, raw, isLast)
      yield shown
      if (this.stopStrings.found !== null) this.reason = 'stop'
      if (this.stopStrings.found !== null || isLast) return undefined
      logits = await this.see([token], signal)
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
  private async read(): Promise<Float32Array> {
    const { steps, seen, prompt, options } = this
    if (prompt.length > steps.capacity)
      throw new PtliteError(
        'LIMIT_EXCEEDED',
        `generate(): the model has room for ${steps.capacity} tokens; the prompt has ${prompt.length}`,
      )
    let common = 0
    while (common < seen.length && common < prompt.length - 1 && seen[common] === prompt[common]) common++
    steps.rewind(common)
    seen.length = this.cached = steps.length
    const width = steps.keeps ? Math.max(1, Math.min(options.chunk ?? CHUNK, steps.chunk)) : prompt.length
    let logits: Float32Array | undefined
    while (seen.length < prompt.length) {
      logits = await this.see(prompt.slice(seen.length, seen.length + width), options.signal)
    }
    return logits!
  }

  private async see(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    signal?.throwIfAborted()
    const logits = await this.steps.advance(tokens, signal)
    this.seen.push(...tokens)
    return logits
  }
}
