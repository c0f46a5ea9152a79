import { PtliteError } from '../runtime/error.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import type { Output } from '../src/values/convert.js'
import { encodeOnce } from './encoder.js'
import { type EncoderDecoder, isLanguageModel, type LanguageModel } from './language-model.js'
import { numbers } from './numbers.js'
import type { ReadPrompt } from './prompt.js'
import { fixedSize } from './roles.js'
import { beginSteps } from './steps/begin.js'
import type { Steps } from './steps/steps.js'
import { tensorsIn } from './results.js'

/** A model before its first token. */
export interface Beginning {
  readonly steps: Steps
  /** Tokens that the decoder begins with. */
  readonly tokens: readonly number[]
  /** Tokens that end a text, where the program says so. */
  readonly stops: readonly number[]
}

/** What transformers' T5, BART and Whisper without a language begin with, where the caller does not say. */
const DECODER_START = [0]

/**
 * Throws INVALID_ARGUMENT for what is no language model, and for arguments that the model does not take.
 */
export function checkModel(model: unknown, { given }: ReadPrompt): asserts model is LanguageModel | EncoderDecoder {
  const models = reading(() => (isLanguageModel(model) ? [model] : isPair(model) ? [model.encoder, model.decoder] : null))
  if (models === null)
    throw new PtliteError('INVALID_ARGUMENT', `generate(): expected a model, or { encoder, decoder }, found ${kindOf(model)}`)
  const names = models.flatMap(({ inputs }) => inputs?.map(({ name }) => /^[^[.]*/.exec(name)![0]) ?? [])
  for (const name of given.keys())
    if (!names.includes(name))
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `generate(): the model takes no ${name.slice(0, 40)}; it takes ${[...new Set(names)].join(', ')}`,
      )
}

/** Runs an encoder, and is ready for the first token. Throws INVALID_ARGUMENT for models that are no language models. */
export async function begin(model: LanguageModel | EncoderDecoder, read: ReadPrompt, signal: AbortSignal | undefined): Promise<Beginning> {
  if (isPair(model)) {
    const { states, mask, others } = await encodeOnce(model.encoder, read, signal)
    const around = { states, statesMask: mask, given: new Map([...others, ...read.given]) }
    const steps = beginSteps(model.decoder, around)
    return { steps, tokens: read.decoderTokens ?? DECODER_START, stops: endsOf(model.decoder) }
  }
  const { inputs } = model
  if (inputs?.some(({ name }) => name === 'decoder_input_ids') !== true)
    return { steps: beginSteps(model, { given: read.given }), tokens: read.tokens, stops: endsOf(model) }
  // both in one program, which encodes anew each time
  const given = new Map(read.given)
  for (const { name, dtype = 'int64', shape } of inputs) {
    const width = fixedSize(shape?.at(-1)) ?? read.tokens.length
    const filled = (of: (i: number) => number) =>
      numbers(
        Array.from({ length: width }, (_, i) => of(i)),
        [1, width],
        dtype,
      )
    if (name === 'input_ids')
      given.set(
        name,
        filled((i) => read.tokens[i] ?? 0),
      )
    if (name === 'attention_mask' && !given.has(name))
      given.set(
        name,
        filled((i) => (i < read.tokens.length ? 1 : 0)),
      )
  }
  return { steps: beginSteps(model, { given }), tokens: read.decoderTokens ?? DECODER_START, stops: endsOf(model) }
}

function isPair(model: unknown): model is EncoderDecoder {
  const { encoder, decoder } = (model ?? {}) as Partial<EncoderDecoder>
  return isLanguageModel(encoder) && isLanguageModel(decoder)
}

/** Methods of ExecuTorch's programs that say which tokens end a text. */
const SAY_END = ['get_eos_ids', 'get_eos_id'] as const

function endsOf(model: LanguageModel): number[] {
  const method = SAY_END.find((name) => model.methods.includes(name))
  return method === undefined ? [] : numbersIn(model.call(method))
}

function numbersIn(value: Output): number[] {
  if (typeof value === 'number' || typeof value === 'bigint') return [Number(value)]
  if (Array.isArray(value)) return value.flatMap(numbersIn)
  return tensorsIn([value]).flatMap((t) => [...t.data()].map(Number))
}
