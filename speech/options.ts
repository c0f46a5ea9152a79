import type { MelOptions } from '../media/audio/mel-spectrogram.js'
import { anything, boolean, callback, checkOptions, count, oneOf } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { isSeed, isSignal } from '../generation/options.js'
import type { Tokens } from '../generation/prompt.js'
import { isTokenizer, type Tokenizer } from '../generation/text/tokenizer.js'
import type { CtcVocabulary } from './ctc/vocabulary.js'
import type { WordModel } from './ctc/beams.js'
import type { SpeechSegment } from './transcription.js'

/** How speech becomes text. */
export interface TranscribeOptions {
  /** Of models with a decoder: what makes text of tokens. Without it there are tokens alone, and `config` says which is which. */
  readonly tokenizer?: Tokenizer | undefined
  /** Of models with a decoder: the contents of `generation_config.json`. */
  readonly config?: object | undefined
  /** Of models with CTC: the contents of `vocab.json`, or the texts of tokens in their order. */
  readonly vocabulary?: CtcVocabulary | undefined
  /** What is spoken, as a code ('en') or its English name; where nothing is said the model finds it in the first window. */
  readonly language?: string | undefined
  /** 'translate' gives English text. Default 'transcribe'. */
  readonly task?: 'transcribe' | 'translate' | undefined
  /** Whether the model is asked for the times of segments (true where nothing is said), or, by its cross-attention, of words. */
  readonly timestamps?: boolean | 'word' | undefined
  /** What was said before, or words that are to be written so: a text, or tokens. */
  readonly prompt?: string | Tokens | undefined
  /** Shows the model what was said in the windows before. Default true. */
  readonly context?: boolean | undefined
  /** Temperatures that are tried one after the other while what is found is unlikely or repeats itself; 0 takes the likeliest token. Default 0, 0.2, … 1. */
  readonly temperature?: number | readonly number[] | undefined
  /** What a window's tokens may be compressed to by zlib, at most; Infinity for any. Default 1.35. */
  readonly compressionRatioThreshold?: number | undefined
  /** The mean of the logarithms of tokens' probabilities, at least; -Infinity for any. Default -1. */
  readonly logprobThreshold?: number | undefined
  /** Windows that are likelier silent than this, and whose tokens are unlikely, are left out; Infinity for none. Default 0.6. */
  readonly noSpeechThreshold?: number | undefined
  /** That what is drawn follows from. */
  readonly seed?: number | undefined
  /** Is called with each segment when it is found. */
  readonly onSegment?: ((segment: SpeechSegment) => void) | undefined
  /** Samples a second that the model takes. Default 16000. */
  readonly sampleRate?: number | undefined
  /** Of models with CTC: makes what they take of samples. Without it they take the samples. */
  readonly mel?: Omit<MelOptions, 'sampleRate'> | undefined
  /** Of models with CTC that take samples: brings them to mean 0 and variance 1. Default true. */
  readonly normalize?: boolean | undefined
  /** Of models with CTC: beginnings that are followed at a time. Default 1, the likeliest token of each frame. */
  readonly beams?: number | undefined
  /** Of models with CTC: says how likely words are, with more than one beam. */
  readonly wordModel?: WordModel | undefined
  /** Ends it with ABORTED, whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value)
const number = (value: unknown): string | null => (isNumber(value) ? null : 'a number')
const isTemperature = (value: unknown): boolean => isNumber(value) && value >= 0 && value < Infinity
const isObject = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object Object]'
const object = (value: unknown): string | null => (isObject(value) ? null : 'the contents of a JSON file')

/** Texts of tokens. */
export function isVocabulary(value: unknown): string | null {
  return isObject(value) || Array.isArray(value) ? null : 'the contents of vocab.json, or a list of texts'
}

/** A model of words: by what it does. */
export function isWordModel(value: unknown): string | null {
  const { score } = (value ?? {}) as Partial<WordModel>
  return typeof score === 'function' ? null : 'a model of words with score()'
}

const TESTS = {
  tokenizer: isTokenizer,
  config: object,
  vocabulary: isVocabulary,
  language: (value) => (typeof value === 'string' ? null : "a language, such as 'en'"),
  task: oneOf('transcribe', 'translate'),
  timestamps: (value) => (typeof value === 'boolean' || value === 'word' ? null : "true, false or 'word'"),
  prompt: anything,
  context: boolean,
  temperature: (value) =>
    isTemperature(value) || (Array.isArray(value) && value.length > 0 && value.length <= 32 && value.every(isTemperature))
      ? null
      : 'a number of at least 0, or a list of them',
  compressionRatioThreshold: number,
  logprobThreshold: number,
  noSpeechThreshold: number,
  seed: isSeed,
  onSegment: callback,
  sampleRate: anything,
  mel: (value) => (isObject(value) ? null : `options of melSpectrogram(), not ${kindOf(value)}`),
  normalize: boolean,
  beams: count,
  wordModel: isWordModel,
  signal: isSignal,
} satisfies Record<keyof TranscribeOptions, (value: unknown) => string | null>

/** Throws INVALID_ARGUMENT for what is no option. */
export function checkTranscribe(options: TranscribeOptions): void {
  checkOptions(options, TESTS, 'transcribe()')
}
