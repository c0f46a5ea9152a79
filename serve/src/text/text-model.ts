import { readFile } from 'node:fs/promises'
import {
  type ChatMessage,
  type ChatTokenizer,
  embed,
  type EncoderDecoder,
  generate,
  type GenerationOptions,
  type LanguageModel,
  loadModule,
  loadTokenizer,
  type Module,
  openSession,
  PtliteError,
  type TokenizerFiles,
} from 'ptlite'
import type { EmbedRequest, Ended, GenerateRequest, Piece, ProbableToken, Sampling, Source, TextStart, Vectors } from './messages.js'
import type { TokenizerPaths } from '../repository/scan.js'
import { fileOf } from './files.js'
import { JsonMask } from './json/json-mask.js'
import { Vocabulary } from './json/vocabulary.js'
import { Slots } from './slots.js'
import { Turns } from './turns.js'

/** Tokens that are generated where neither the request nor the model sets a limit. */
const MAX_TOKENS = 4096
/** Characters of a prompt for each token that there is room for, and at least: longer ones are not even split into tokens. */
const CHARACTERS_PER_TOKEN = 64
const LEAST_CHARACTERS = 1 << 14
const MAX_CHARACTERS = 1 << 20

/** Of the first prompt: programs of torch.export may have been made for no fewer. */
const WARM_UP_TOKENS = 4

/** Takes what a generation gives. */
export interface TextSink {
  began(promptTokens: number, cachedTokens: number): void
  piece(piece: Piece): void
}

/** A language model and its tokenizer, in the thread that runs them. */
export class TextModel {
  /** null: an encoder reads each prompt anew. */
  private readonly slots: Slots | null
  /** Of texts that are to be JSON. */
  private vocabulary: Vocabulary | null = null

  private constructor(
    private readonly config: TextStart['config'],
    private readonly modules: readonly Module[],
    private readonly models: readonly LanguageModel[],
    private readonly pair: (EncoderDecoder & { readonly opening: readonly number[] }) | null,
    private readonly tokenizer: ChatTokenizer,
    private readonly files: TokenizerFiles,
    /** Tokens that there is room for. */
    private readonly capacity: number,
  ) {
    this.slots = pair === null ? new Slots(models, config.slots) : null
  }

  /** Throws what is wrong with the files. */
  static async load(start: TextStart, warn: (text: string) => void, onStep: () => void): Promise<TextModel> {
    const { path, compile, map, eval: isOut, bytes, milliseconds, config } = start
    const limits = bytes === null ? { milliseconds } : { milliseconds, bytes }
    const files = await filesOf(start.tokenizer)
    const tokenizer = await loadTokenizer(files)
    const modules: Module[] = []
    try {
      const turns = new Turns(onStep)
      for (let i = 0; i < config.copies; i++) {
        modules.push(await loadModule(path, { compile, map, eval: isOut, onWarning: warn, limits }))
        onStep()
      }
      const models = modules.map((module) => turns.modelOf(module, limits))
      if (start.encoder === null) return new TextModel(config, modules, models, null, tokenizer, files, await warmUp(models, config))
      modules.push(await loadModule(start.encoder, { compile, map, eval: isOut, onWarning: warn, limits }))
      const pair = { encoder: turns.modelOf(modules.at(-1)!, limits), decoder: models[0]!, opening: await openingOf(start.tokenizer) }
      if (config.task === 'embed') throw new PtliteError('INVALID_ARGUMENT', 'an encoder with a decoder gives no vectors')
      await generate(pair, { input_ids: Array<number>(WARM_UP_TOKENS).fill(0), decoder_input_ids: pair.opening }, { maxTokens: 1 }).next()
      return new TextModel(config, modules, models, pair, tokenizer, files, Infinity)
    } catch (error) {
      for (const module of modules) module.dispose()
      throw error
    }
  }

  get hasTemplate(): boolean {
    return this.tokenizer.hasTemplate
  }

  /** Throws what is wrong with the prompt, and with the model. */
  async generate({ source, sampling }: GenerateRequest, signal: AbortSignal, sink: TextSink): Promise<Ended> {
    const { tokenizer } = this
    const prompt = this.tokensOf(source)
    if (prompt.length === 0) throw new PtliteError('INVALID_ARGUMENT', 'the prompt has no tokens')
    const room = this.capacity - prompt.length
    if (room < 0)
      throw new PtliteError(
        'LIMIT_EXCEEDED',
        `the model has room for ${this.capacity} tokens, and the prompt has ${prompt.length}; shorten it`,
      )
    const maxTokens = Math.min(sampling.maxTokens ?? MAX_TOKENS, room + 1)
    const slot = await this.slots?.take(prompt)
    try {
      const json =
        sampling.json === null ? null : new JsonMask((this.vocabulary ??= this.readVocabulary()), sampling.json.schema, tokenizer.endTokens)
      const options = {
        ...optionsOf(sampling, json),
        maxTokens,
        tokenizer,
        signal,
        stop: [...tokenizer.endTokens, ...(json === null ? sampling.stop : [])],
      }
      const { pair } = this
      const generation =
        slot === undefined
          ? generate(pair!, { input_ids: prompt, decoder_input_ids: pair!.opening }, options)
          : slot.session.generate(prompt, options)
      let hasBegun = false
      let isWhole = false
      const begin = (): void => {
        if (!hasBegun) sink.began(prompt.length, generation.usage.cachedTokens)
        hasBegun = true
      }
      for await (const { token, text = '', logprob, top = [] } of generation) {
        signal.throwIfAborted()
        begin()
        const known =
          logprob === undefined
            ? null
            : { ...this.probable(token, logprob), top: top.map((each) => this.probable(each.token, each.logprob)) }
        if (text !== '' || known !== null) sink.piece({ text, token: known })
        isWhole = json?.isEnd(token) ?? false
        if (isWhole) break
      }
      begin()
      const { usage } = generation
      const reason = isWhole || usage.finishReason === 'stop' ? 'stop' : 'length'
      return { reason, isString: typeof usage.stop === 'string', completionTokens: usage.completionTokens }
    } finally {
      slot?.giveBack()
    }
  }

  /** Throws what is wrong with the texts. */
  async embed({ texts }: EmbedRequest, signal: AbortSignal): Promise<Vectors> {
    const { pooling, normalize } = this.config
    const rows = texts.map((text) => (typeof text === 'string' ? this.encode(text) : text))
    const vectors = await embed(this.models[0]!, rows, { pooling, normalize, signal })
    const data = (vectors.data() as Float32Array).slice()
    const [, width] = vectors.shape as [number, number]
    vectors.dispose()
    return { data, width, tokens: rows.reduce((sum, { length }) => sum + length, 0) }
  }

  dispose(): void {
    for (const module of this.modules) module.dispose()
  }

  private readVocabulary(): Vocabulary {
    return new Vocabulary(this.tokenizer, this.files.tokenizer)
  }

  private probable(token: number, logprob: number): ProbableToken {
    return { text: this.tokenizer.decode([token], { skip_special_tokens: false }), logprob }
  }

  private tokensOf(source: Source): readonly number[] {
    if ('tokens' in source) return source.tokens
    if ('text' in source) return this.encode(source.text)
    const { messages, tools, values } = source
    if (!this.tokenizer.hasTemplate)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        'the model has no template for chats (chat_template.jinja, or chat_template in tokenizer_config.json); ask for a completion',
      )
    let text: string
    try {
      text = this.tokenizer.chatText(messages as readonly ChatMessage[], { ...values, ...(tools !== null && { tools }) })
    } catch (error) {
      throw new PtliteError('INVALID_ARGUMENT', `the model's template does not take this conversation: ${(error as Error).message}`, {
        cause: error,
      })
    }
    // the template has the tokens that begin a text
    return this.encode(text, false)
  }

  private encode(text: string, special = true): readonly number[] {
    const most = Math.min(MAX_CHARACTERS, Math.max(LEAST_CHARACTERS, CHARACTERS_PER_TOKEN * this.capacity))
    if (text.length > most)
      throw new PtliteError(
        'LIMIT_EXCEEDED',
        `the text has ${text.length} characters; at most ${most}, which is more than the model has room for`,
      )
    const encoded = this.tokenizer.encode(text, { add_special_tokens: special })
    return 'ids' in encoded ? encoded.ids : encoded
  }
}

function optionsOf(sampling: Sampling, json: JsonMask | null): GenerationOptions {
  const { temperature, topP, topK, minP, repetitionPenalty, frequencyPenalty, presencePenalty, seed, bias, logprobs } = sampling
  return {
    temperature,
    topP: topP ?? undefined,
    topK: topK ?? undefined,
    minP: minP ?? undefined,
    repetitionPenalty: repetitionPenalty ?? undefined,
    ...{ frequencyPenalty, presencePenalty, seed: seed ?? undefined },
    logprobs: logprobs !== null,
    topLogprobs: logprobs !== null && logprobs > 0 ? logprobs : undefined,
    logits:
      bias.length === 0 && json === null
        ? undefined
        : (values, tokens) => {
            addBias(values, bias)
            json?.apply(values, tokens)
          },
  }
}

function addBias(logits: Float32Array, bias: Sampling['bias']): void {
  for (const [token, value] of bias) if (token < logits.length) logits[token]! += value
}

/** A step of each copy, which shows that it is a model of the kind that is wanted. Gives the number of tokens that it has room for. */
async function warmUp(models: readonly LanguageModel[], { task }: TextStart['config']): Promise<number> {
  let capacity = Infinity
  for (const model of models) {
    if (task === 'embed') {
      const vectors = await embed(model, [[0]])
      vectors.dispose()
      continue
    }
    const session = await openSession(model)
    capacity = session.capacity
    await session.generate(Array<number>(Math.min(WARM_UP_TOKENS, capacity)).fill(0), { maxTokens: 1 }).next()
    session.dispose()
  }
  return capacity
}

async function filesOf({ tokenizer, config, template }: TokenizerPaths): Promise<TokenizerFiles> {
  return {
    tokenizer: await fileOf(tokenizer!),
    config: config === null ? undefined : await fileOf(config),
    template: template === null ? undefined : await readFile(template, 'utf8'),
  }
}

/** What a decoder begins with: transformers' files say it, and T5 begins with 0. */
async function openingOf({ generation }: TokenizerPaths): Promise<readonly number[]> {
  const fields = generation === null ? {} : ((await fileOf(generation)) as { readonly decoder_start_token_id?: unknown })
  const token = fields.decoder_start_token_id
  return [Number.isSafeInteger(token) && (token as number) >= 0 ? (token as number) : 0]
}
