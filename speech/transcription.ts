/** A word, and when it was said. */
export interface SpokenWord {
  readonly text: string
  /** Seconds. */
  readonly start: number
  readonly end: number
}

/** What was said from one time to another. */
export interface SpeechSegment {
  /** Seconds. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** With those that say times. */
  readonly tokens: readonly number[]
  /** The mean of the logarithms of the tokens' probabilities, of all that were found in the same window. */
  readonly averageLogprob: number
  /** How much smaller zlib makes the tokens of its window: what repeats itself is small. Whisper's kind of models. */
  readonly compressionRatio?: number
  /** The model's probability that nobody speaks in its window. Whisper's kind of models. */
  readonly noSpeechProbability?: number
  /** That its tokens were drawn at. Whisper's kind of models. */
  readonly temperature?: number
  /** With the option `timestamps: 'word'`, and of CTC. */
  readonly words?: readonly SpokenWord[]
}

/** What was said in a recording. */
export interface Transcription {
  readonly text: string
  readonly segments: readonly SpeechSegment[]
  /** Its code, such as 'en', as it was given or found; null where the model knows of none. */
  readonly language: string | null
  /** Of the recording, in seconds. */
  readonly duration: number
}
