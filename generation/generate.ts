import { throwIfAborted } from '../runtime/aborted.js'
import { PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { begin, checkModel } from './begin.js'
import { Context } from './context.js'
import { beginGuessing } from './guessing.js'
import type { EncoderDecoder, LanguageModel } from './language-model.js'
import { checkGeneration, type GenerationOptions } from './options.js'
import { type Prompt, type ReadPrompt, readPrompt } from './prompt.js'
import { Run } from './run.js'
import type { GeneratedToken, Generation, Usage } from './usage.js'

/**
 * Generates the tokens that follow a prompt, one a step, off the event loop: `for await (const { token, text } of generate(model, tokens, { maxTokens: 64 }))`. What is generated
 * is cut short by leaving the loop. `usage` of the result says what it took.
 *
 * How the model keeps what it has seen follows from what it takes: places in a cache that it has (`input_ids, cache_position` of transformers'
 * `TorchExportableModuleWithStaticCache`, `tokens, input_pos` of ExecuTorch), keys and values of the tokens before (`past_key_values`, in any nesting, which it gives again with
 * those of the new ones), or tokens alone. Of an encoder and a decoder the encoder runs once; `{ input_ids, decoder_input_ids }` says what the decoder
 * begins with, 0 where it does not.
 *
 * Throws INVALID_ARGUMENT for options, prompts and models that are none; taking the first token throws it for models that do not take tokens, and what calls throw.
 */
export function generate(model: LanguageModel | EncoderDecoder, prompt: Prompt, options: GenerationOptions = {}): Generation {
  reading(() => checkGeneration(options))
  const read = readPrompt(prompt)
  checkModel(model, read)
  return new Beginning(model, read, options)
}

const NONE: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  acceptedTokens: 0,
  firstTokenMilliseconds: 0,
  milliseconds: 0,
  finishReason: null,
  stop: null,
}

/** A generation whose model is looked at, and whose encoder runs, when its first token is asked for. */
class Beginning implements Generation {
  private run: Promise<Run> | undefined
  private begun: Run | undefined

  constructor(
    private readonly model: LanguageModel | EncoderDecoder,
    private readonly prompt: ReadPrompt,
    private readonly options: GenerationOptions,
  ) {}

  get usage(): Usage {
    return this.begun?.usage ?? NONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<GeneratedToken, undefined>> {
    return (await (this.run ??= this.begin())).next()
  }

  async return(): Promise<IteratorResult<GeneratedToken, undefined>> {
    const run = await (this.run ??= this.begin())
    return run.return()
  }

  private async begin(): Promise<Run> {
    const { options } = this
    throwIfAborted(options.signal)
    const { steps, tokens, stops } = await begin(this.model, this.prompt, options.signal)
    if (tokens.length === 0) throw new PtliteError('INVALID_ARGUMENT', 'generate(): expected a prompt of at least one token, found none')
    const guesser = options.draft === undefined ? null : beginGuessing(options.draft)
    this.begun = new Run(new Context(steps), guesser, tokens, options, stops, () => {
      steps.dispose()
      guesser?.dispose()
    })
    return this.begun
  }
}
