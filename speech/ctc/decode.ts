import { check } from '../../runtime/error.js'
import { checkOptions, count, reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { isVocabulary, isWordModel } from '../options.js'
import { spansOf } from './alignment.js'
import { likeliestTokens, type WordModel } from './beams.js'
import { type CtcSpan, type Frames, normalized } from './frames.js'
import { type CtcVocabulary, type ReadVocabulary, readVocabulary } from './vocabulary.js'

/** How logits of frames become tokens. */
export interface CtcOptions {
  /** Texts of tokens. */
  readonly vocabulary?: CtcVocabulary | undefined
  /** The token that stands for nothing. What the vocabulary calls <pad>, [PAD], <blank> or the like, else 0. */
  readonly blank?: number | undefined
  /** Beginnings that are followed at a time. Default 1: the likeliest token of each frame. */
  readonly beams?: number | undefined
  /** Says how likely words are, with more than one beam: an n-gram model of `readArpa`, or one of yours. */
  readonly wordModel?: WordModel | undefined
  /** What its logarithms are multiplied by. Default 0.5. */
  readonly wordWeight?: number | undefined
  /** Is added for each word. Default 1.5. */
  readonly wordBonus?: number | undefined
}

/** A word of a decoded text, and when it is said. */
export interface CtcWord {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** What was decoded; times are numbers of frames. */
export interface CtcResult {
  readonly text: string
  readonly tokens: readonly number[]
  /** The logarithm of the probability: of the likeliest tokens of all frames, or of all ways to say these tokens with more than one beam; without what a model of words says. */
  readonly logprob: number
  readonly spans: readonly CtcSpan[]
  readonly words: readonly CtcWord[]
}

const finite = (value: unknown): string | null => (Number.isFinite(value) ? null : 'a number')
const TESTS = {
  vocabulary: isVocabulary,
  blank: (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'a token'),
  beams: count,
  wordModel: isWordModel,
  wordWeight: finite,
  wordBonus: finite,
} satisfies Record<keyof CtcOptions, (value: unknown) => string | null>

/** Frames by tokens: more than any recording has. */
const MOST = 2 ** 31

/**
 * What logits [frames, tokens] or [1, frames, tokens] of connectionist temporal classification say (Graves et al., 2006): of each frame the likeliest token, equal ones together, blanks taken out; or, with `beams`, the likeliest tokens
 * over all ways to say them (Hannun et al., "First-pass large vocabulary continuous speech recognition using bi-directional recurrent DNNs", 2014), with a model of words where one is given. Throws INVALID_ARGUMENT for other tensors and options.
 */
export function ctcDecode(logits: Tensor, options: CtcOptions = {}): CtcResult {
  return reading(() => {
    checkOptions(options, TESTS, 'ctcDecode()')
    const given = { ...options }
    const frames = framesOf(logits)
    return decoded(frames, readVocabulary(given.vocabulary, given.blank, frames.width), given)
  })
}

function framesOf(logits: unknown): Frames {
  check(logits instanceof Tensor, () => `ctcDecode(): expected a tensor of logits, found ${kindOf(logits)}`)
  const { shape, dtype, numel } = logits as Tensor
  const isOne = shape.length === 2 || (shape.length === 3 && shape[0] === 1)
  check(
    isOne && dtype.startsWith('float') && numel > 0 && numel < MOST,
    () => `ctcDecode(): expected logits as float32[frames, tokens] or float32[1, frames, tokens], found ${kindOf(logits)}`,
  )
  const [count, width] = shape.slice(-2) as [number, number]
  const values = ((logits as Tensor).dtype === 'float32' ? (logits as Tensor) : (logits as Tensor).to('float32')).data() as Float32Array
  return { count, width, values: normalized(values, width) }
}

/** Throws INVALID_ARGUMENT where a model of words has no words. */
export function decoded(frames: Frames, vocabulary: ReadVocabulary, options: CtcOptions): CtcResult {
  const { beams = 1, wordModel, wordWeight = 0.5, wordBonus = 1.5 } = options
  check(
    wordModel === undefined || (beams > 1 && vocabulary.delimiter !== null),
    () => 'ctcDecode(): a model of words takes beams of more than 1, and a vocabulary with what stands between words, "|" or " "',
  )
  if (beams === 1) return resultOf(greedySpans(frames, vocabulary.blank), likeliestSum(frames), vocabulary)
  const { tokens, logprob } = likeliestTokens(
    frames,
    vocabulary,
    beams,
    wordModel && { model: wordModel, weight: wordWeight, bonus: wordBonus },
  )
  return resultOf(spansOf(frames, tokens, vocabulary.blank), logprob, vocabulary)
}

function resultOf(spans: readonly CtcSpan[], logprob: number, { texts, delimiter }: ReadVocabulary): CtcResult {
  const words: CtcWord[] = []
  let isOpen = false
  for (const { token, start, end } of spans) {
    const text = texts[token]!
    if (token === delimiter || text === ' ') isOpen = false
    else if (text !== '') {
      const last = words.at(-1)
      const begins = !isOpen || text.startsWith(' ') || last === undefined
      if (begins) words.push({ text: text.trimStart(), start, end })
      else words[words.length - 1] = { text: last.text + text, start: last.start, end }
      isOpen = true
    }
  }
  const text = spans.map(({ token }) => texts[token]!).join('').replace(/ +/g, ' ').trim() // prettier-ignore
  return { text, tokens: spans.map(({ token }) => token), logprob, spans, words }
}

/** Runs of one token, without those of the blank. */
function greedySpans({ count: frames, width, values }: Frames, blank: number): CtcSpan[] {
  const spans: CtcSpan[] = []
  let before = -1
  for (let frame = 0; frame < frames; frame++) {
    let token = 0
    for (let i = 1; i < width; i++) if (values[frame * width + i]! > values[frame * width + token]!) token = i
    if (token !== blank) {
      const last = spans.at(-1)
      if (token === before) spans[spans.length - 1] = { ...last!, end: frame + 1 }
      else spans.push({ token, start: frame, end: frame + 1 })
    }
    before = token
  }
  return spans
}

function likeliestSum({ count: frames, width, values }: Frames): number {
  let sum = 0
  for (let frame = 0; frame < frames; frame++) {
    let top = -Infinity
    for (let i = 0; i < width; i++) top = Math.max(top, values[frame * width + i]!)
    sum += top
  }
  return sum
}
