import { PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { begin, checkModel } from './begin.js'
import { Context } from './context.js'
import { beginGuessing, type Draft, type Guesser } from './guessing.js'
import type { EncoderDecoder, LanguageModel } from './language-model.js'
import { checkGeneration, type GenerationOptions } from './options.js'
import { type Prompt, readPrompt, type Tokens, tokensOf } from './prompt.js'
import { Run } from './run.js'
import type { Steps } from './steps/steps.js'
import type { Generation } from './usage.js'

/**
 * A conversation with a model, whose cache stays from one generation to the next: of a prompt that begins as what it has seen only the rest is
 * computed. Several sessions may share a model: where its cache is in its buffers, each puts its own there when it is its turn, which copies it.
 */
export class GenerationSession {
  readonly #context: Context
  /** Whose caches stay, too. */
  readonly #guessers = new Map<Draft, Guesser>()
  #busy = false
  #disposed = false

  /** @internal */
  constructor(
    steps: Steps,
    seen: readonly number[],
    private readonly stops: readonly number[],
  ) {
    this.#context = new Context(steps, [...seen])
  }

  /** Tokens that the cache has, prompts and what was generated. */
  get tokens(): number[] {
    return [...this.#context.seen]
  }

  /** The most tokens that it can hold; Infinity where the file sets no limit. */
  get capacity(): number {
    return this.#context.steps.capacity
  }

  /**
   * Generates what follows `tokens`: the whole of the conversation, of which the beginning that the cache has is not computed again. Throws INVALID_ARGUMENT where
   * another generation of this session is under way.
   */
  generate(tokens: Tokens, options: GenerationOptions = {}): Generation {
    reading(() => checkGeneration(options))
    this.#check()
    const prompt = tokensOf(tokens, 'the prompt')
    if (prompt.length === 0) throw new PtliteError('INVALID_ARGUMENT', 'generate(): expected a prompt of at least one token, found none')
    this.#busy = true
    const run = new Run(this.#context, this.#guesserOf(options), prompt, options, this.stops)
    run.ended.then(() => (this.#busy = false)).catch(() => undefined)
    return run
  }

  /** Forgets all but the first `length` tokens. Throws INVALID_ARGUMENT where it has not so many. */
  rewind(length: number): void {
    this.#check()
    if (!Number.isSafeInteger(length) || length < 0 || length > this.#context.seen.length)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `rewind(): expected a number of tokens from 0 to ${this.#context.seen.length}, which there are`,
      )
    this.#context.goBack(this.#context.seen, length)
  }

  /** Another session that has seen the same; what either does from then on is its own. */
  async fork(): Promise<GenerationSession> {
    this.#check()
    return new GenerationSession(await this.#context.steps.fork(), this.#context.seen, this.stops)
  }

  /** Gives its cache back. */
  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#context.steps.dispose()
    for (const guesser of this.#guessers.values()) guesser.dispose()
  }

  #guesserOf({ draft }: GenerationOptions): Guesser | null {
    if (draft === undefined) return null
    let guesser = this.#guessers.get(draft)
    if (guesser === undefined) this.#guessers.set(draft, (guesser = beginGuessing(draft)))
    return guesser
  }

  #check(): void {
    if (this.#disposed) throw new PtliteError('DISPOSED', 'the session was disposed')
    if (this.#busy)
      throw new PtliteError('INVALID_ARGUMENT', 'a generation of this session is under way; fork() it for another one, or end that')
  }
}

/**
 * Begins a session. `inputs` are what the model takes besides tokens, by their names; of an encoder and a decoder what the encoder takes: it runs once, here.
 * Throws INVALID_ARGUMENT for models that are no language models.
 */
export async function openSession(model: LanguageModel | EncoderDecoder, inputs: Prompt = {}): Promise<GenerationSession> {
  const read = readPrompt(inputs)
  checkModel(model, read)
  if (read.tokens.length > 0 && !('encoder' in model))
    throw new PtliteError('INVALID_ARGUMENT', 'openSession(): only an encoder takes tokens here; give others to generate()')
  const { steps, stops } = await begin(model, read, undefined)
  return new GenerationSession(steps, [], stops)
}
