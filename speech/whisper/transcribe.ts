import { Context } from '../../generation/context.js'
import { encodeOnce } from '../../generation/encoder.js'
import type { EncoderDecoder, LanguageModel } from '../../generation/language-model.js'
import { tokensOf } from '../../generation/prompt.js'
import { fixedSize } from '../../generation/roles.js'
import { randomFrom } from '../../generation/sampling/random.js'
import { beginSteps } from '../../generation/steps/begin.js'
import type { Around } from '../../generation/steps/caller.js'
import type { Steps } from '../../generation/steps/steps.js'
import { encode } from '../../generation/text/tokenizer.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import { check, PtliteError } from '../../runtime/error.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from '../../src/values/convert.js'
import type { TranscribeOptions } from '../options.js'
import type { SpeechSegment, SpokenWord, Transcription } from '../transcription.js'
import { alignedFrames } from './alignment.js'
import { Attention } from './attention.js'
import { type Features, featuresOf, RATE } from './features.js'
import { segmentsOf, TIME_STEP, type TokenSegment } from './segments.js'
import { languageOf, type SpecialTokens, specialTokensOf } from './special-tokens.js'
import { type ReadWindow, readWindow, type WindowOptions } from './window.js'
import { wordsOf } from './words.js'

const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1]
const COMPRESSION_RATIO = 1.35
const AVERAGE_LOGPROB = -1
const NO_SPEECH = 0.6
/** Of what was drawn at higher ones nothing is shown to the next window. */
const CONTEXT_TEMPERATURE = 0.5
/** What files say that do not know: 80 energies of 30 s. */
const MELS = 80
const FRAMES = 3000

/** Speech as text by a model of Whisper's kind: an encoder that takes energies of 30 s, and a decoder that gives tokens, among them times. */
export async function transcribeWindows(
  model: LanguageModel | EncoderDecoder,
  samples: Tensor,
  options: TranscribeOptions,
): Promise<Transcription> {
  const special = specialTokensOf(options.config, options.tokenizer)
  if (options.language !== undefined) languageOf(options.language, special)
  if (options.task === 'translate' && special.tasks.translate === null)
    throw new PtliteError('INVALID_ARGUMENT', "transcribe(): the model knows English alone; the task 'translate' is none of it")
  const [mels, width] = sizesOf(featuresIn(model))
  return new Reading(model, featuresOf(samples, mels), width, special, options, samples.numel / RATE).all()
}

class Reading {
  /** Tokens of what was said, and of the prompt before it. */
  private readonly before: number[][]
  private readonly attention: Attention | null
  private readonly options: WindowOptions
  private readonly prompt: readonly number[]
  private language: string | null

  constructor(
    private readonly model: LanguageModel | EncoderDecoder,
    private readonly features: Features,
    /** Frames of a window. */
    private readonly width: number,
    private readonly special: SpecialTokens,
    private readonly given: TranscribeOptions,
    private readonly duration: number,
  ) {
    const { language, timestamps = true, temperature = TEMPERATURES, seed, signal } = given
    this.language = language === undefined ? (special.languages.size === 0 ? 'en' : null) : languageOf(language, special)
    this.attention = timestamps === 'word' ? new Attention(special.alignmentHeads) : null
    this.prompt = promptOf(given)
    this.before = this.prompt.length > 0 ? [[...this.prompt]] : []
    this.options = {
      ...{ special, signal, hasTimes: timestamps !== false },
      temperatures: typeof temperature === 'number' ? [temperature] : temperature,
      compressionRatio: given.compressionRatioThreshold ?? COMPRESSION_RATIO,
      averageLogprob: given.logprobThreshold ?? AVERAGE_LOGPROB,
      noSpeech: given.noSpeechThreshold ?? NO_SPEECH,
      random: seed === undefined ? Math.random : randomFrom(seed),
    }
  }

  async all(): Promise<Transcription> {
    const { features, width, given } = this
    const { context = true } = given
    const segments: SpeechSegment[] = []
    let hasContext = context
    for (let seek = 0; seek < features.frames;) {
      const frames = Math.min(features.frames - seek, width)
      const input = features.window(seek, frames, width)
      const { steps, kept } = await this.begin(input)
      try {
        this.language ??= await this.heard(steps)
        const head = hasContext ? this.contextOf() : context ? [] : this.said(this.prompt)
        const prompt = [...head, ...this.opening()]
        const found = await readWindow(new Context(steps), prompt, head.length, this.options, () => this.attention?.clear())
        hasContext = context && found.temperature < CONTEXT_TEMPERATURE
        if (found.isSilent) seek += frames
        else {
          const cut = segmentsOf(found.tokens, this.special.firstTime, seek, frames)
          const times = this.attention === null ? null : this.timesOf(found, prompt.length, seek, frames)
          for (const segment of cut.segments) {
            this.before.push([...segment.tokens])
            const shown = this.shown(segment, found, times)
            if (shown === null) continue
            segments.push(shown)
            given.onSegment?.(shown)
          }
          seek += cut.frames
        }
      } finally {
        steps.dispose()
        for (const value of [input, ...kept]) if (value instanceof Tensor) value.dispose()
      }
    }
    const text = segments.map((segment) => segment.text).join('').trim() // prettier-ignore
    return { text, segments, language: this.language, duration: this.duration }
  }

  /** The decoder before its first token, with what the encoder makes of a window. */
  private async begin(input: Tensor): Promise<{ readonly steps: Steps; readonly kept: readonly Input[] }> {
    const { model, attention, given } = this
    const { name } = featuresIn(model)
    const features = new Map([[name, input]])
    const watch: Around['watch'] = attention === null ? undefined : (output, start, count) => attention.take(output, start, count)
    if (!('encoder' in model)) return { steps: beginSteps(model, { given: features, ...(watch && { watch }) }), kept: [] }
    const read = { tokens: [], decoderTokens: null, given: features }
    const { states, mask, others } = await encodeOnce(model.encoder, read, given.signal)
    const steps = beginSteps(model.decoder, { states, statesMask: mask, given: others, ...(watch && { watch }) })
    return { steps, kept: [states, mask, ...others.values()] }
  }

  /** The language of the first window. */
  private async heard(steps: Steps): Promise<string> {
    const { special, given } = this
    const [logits] = await steps.advance([special.start], 1, given.signal)
    steps.rewind(0)
    let best: string | null = null
    for (const [code, token] of special.languages)
      if (best === null || logits![token]! > logits![special.languages.get(best)!]!) best = code
    return best!
  }

  /** Tokens that a transcript begins with. */
  private opening(): number[] {
    const { special, given, language, options } = this
    const { start, languages, tasks, noTimestamps } = special
    const spoken = language === null ? undefined : languages.get(language)
    const task = tasks[given.task ?? 'transcribe']
    return [
      start,
      ...(spoken === undefined ? [] : [spoken]),
      ...(spoken === undefined || task === null ? [] : [task]),
      ...(options.hasTimes ? [] : [noTimestamps]),
    ]
  }

  /** What was said before, as much of it as leaves half of the places free. */
  private contextOf(): number[] {
    const { firstTime, most } = this.special
    const tokens = this.before.flatMap((each) => (each.length > 2 && each.at(-2)! >= firstTime ? each.slice(0, -1) : each))
    return this.said(tokens.slice(-(Math.floor(most / 2) - 1)))
  }

  private said(tokens: readonly number[]): number[] {
    if (tokens.length === 0) return []
    return [...(this.special.previous === null ? [] : [this.special.previous]), ...tokens]
  }

  /** When each token of a window begins, in seconds, and at the end when the last one ends. */
  private timesOf({ tokens }: ReadWindow, from: number, seek: number, frames: number): readonly number[] {
    const rows = this.attention!.from(from, tokens.length)
    if (rows === null)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        "transcribe(): timestamps: 'word' takes a decoder that gives { logits, cross_attentions }: export it with output_attentions=True, or ask for the times of segments",
      )
    const length = Math.min(rows[0]![0]!.length, Math.max(1, Math.floor(frames / 2)))
    const offset = (seek * TIME_STEP) / 2
    const times = alignedFrames(rows, length).map((frame) => offset + frame * TIME_STEP)
    // the last token has not been seen where there is room for no more
    while (times.length < tokens.length) times.push(times.at(-1) ?? offset)
    return [...times, offset + length * TIME_STEP]
  }

  /** A segment as it is given; null where there is no text in it. */
  private shown(segment: TokenSegment, found: ReadWindow, times: readonly number[] | null): SpeechSegment | null {
    const { tokenizer } = this.given
    const { end } = this.special
    const places = segment.tokens.flatMap((token, i) => (token < end ? [i] : []))
    if (places.length === 0) return null
    const text = places.map((i) => segment.tokens[i]!)
    const { averageLogprob, compressionRatio, noSpeechProbability, temperature } = found
    return {
      ...{ start: segment.start, end: segment.end, tokens: segment.tokens },
      text: tokenizer === undefined ? '' : tokenizer.decode(text, { skip_special_tokens: true }),
      ...{ averageLogprob, compressionRatio, noSpeechProbability, temperature },
      ...(times !== null && tokenizer !== undefined && { words: this.words(text, places, segment.from, times) }),
    }
  }

  private words(text: readonly number[], places: readonly number[], from: number, times: readonly number[]): SpokenWord[] {
    return wordsOf(text, this.given.tokenizer!, this.language).map((word) => ({
      text: word.text,
      start: times[from + places[word.from]!]!,
      end: times[from + places[word.to - 1]! + 1]!,
    }))
  }
}

/** What takes the energies. Throws INVALID_ARGUMENT where nothing does. */
function featuresIn(model: LanguageModel | EncoderDecoder): ArgumentInfo {
  const { inputs } = 'encoder' in model ? model.encoder : model
  const found = inputs?.find(({ name }) => name === 'input_features') ?? ('encoder' in model ? inputs?.[0] : undefined)
  if (found !== undefined) return found
  throw new PtliteError('INVALID_ARGUMENT', 'transcribe(): expected an encoder that takes input_features, [1, energies, frames]')
}

function sizesOf({ shape }: ArgumentInfo): [mels: number, frames: number] {
  check(shape === undefined || shape.length === 3, () => 'transcribe(): expected an encoder that takes [1, energies, frames]')
  return [fixedSize(shape?.[1]) ?? MELS, fixedSize(shape?.[2]) ?? FRAMES]
}

/** Of a text as if it had been said. */
function promptOf({ prompt, tokenizer }: TranscribeOptions): readonly number[] {
  if (prompt === undefined) return []
  if (typeof prompt !== 'string') return tokensOf(prompt, 'prompt')
  check(tokenizer !== undefined, () => 'transcribe(): a prompt that is a text takes a tokenizer; give it as the option tokenizer')
  return encode(tokenizer!, ` ${prompt.trim()}`, false)
}
