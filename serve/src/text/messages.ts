import type { SpeechSegment, Transcription } from 'ptlite'
import type { Failure } from '../workers/messages.js'
import type { TextConfig } from '../repository/config.js'
import type { TokenizerPaths } from '../repository/scan.js'

/** A language model for a thread of its own. */
export interface TextStart {
  readonly path: string
  /** Of the encoder, where `path` is that of a decoder. */
  readonly encoder: string | null
  readonly tokenizer: TokenizerPaths
  readonly config: TextConfig
  readonly compile: 'auto' | 'off' | 'eager'
  readonly map: boolean
  readonly eval: boolean
  readonly bytes: number | null
  /** That loading it may take, and each of its steps. */
  readonly milliseconds: number
  readonly nice: number
}

/** A message of a conversation, as templates of transformers take them. */
export interface Message {
  readonly role: string
  readonly content: string
  readonly [field: string]: unknown
}

/** What is to be continued: a conversation, a text, or tokens. */
export type Source =
  | { readonly messages: readonly Message[]; readonly tools: readonly unknown[] | null; readonly values: Readonly<Record<string, unknown>> }
  | { readonly text: string }
  | { readonly tokens: readonly number[] }

/** How it is continued. */
export interface Sampling {
  /** null: as many as there is room for. */
  readonly maxTokens: number | null
  readonly temperature: number
  readonly topP: number | null
  readonly topK: number | null
  readonly minP: number | null
  readonly repetitionPenalty: number | null
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly seed: number | null
  readonly stop: readonly string[]
  /** Is added to the logits of tokens. */
  readonly bias: readonly (readonly [token: number, value: number])[]
  /** The likeliest tokens that are given with each, and its own probability; null: none of it. */
  readonly logprobs: number | null
  /** The text is JSON: of a schema, or any object where that is null. */
  readonly json: { readonly schema: Readonly<Record<string, unknown>> | null } | null
}

export interface GenerateRequest {
  readonly kind: 'generate'
  readonly id: number
  readonly source: Source
  readonly sampling: Sampling
}

export interface EmbedRequest {
  readonly kind: 'embed'
  readonly id: number
  readonly texts: readonly (string | readonly number[])[]
}

export interface TranscribeRequest {
  readonly kind: 'transcribe'
  readonly id: number
  /** The bytes of a WAV file. */
  readonly sound: Uint8Array
  readonly language: string | null
  readonly task: 'transcribe' | 'translate'
  readonly prompt: string | null
  readonly temperature: number | null
  /** Times of words are wanted. */
  readonly hasWords: boolean
}

export interface CancelRequest {
  readonly kind: 'cancel'
  readonly id: number
}

export type TextRequest = GenerateRequest | EmbedRequest | TranscribeRequest | CancelRequest

/** A token as text, and the logarithm of its probability. */
export interface ProbableToken {
  readonly text: string
  readonly logprob: number
}

/** What a step gave. */
export interface Piece {
  /** What the token completes: nothing where it ends in the middle of a character, or may be the beginning of what ends the text. */
  readonly text: string
  /** null without `logprobs`, and for text that was held back. */
  readonly token: (ProbableToken & { readonly top: readonly ProbableToken[] }) | null
}

export interface Ended {
  readonly reason: 'stop' | 'length'
  /** It was a string of `stop`, and not a token of the model's. */
  readonly isString: boolean
  readonly completionTokens: number
}

export interface Vectors {
  /** One behind the other. */
  readonly data: Float32Array
  readonly width: number
  readonly tokens: number
}

/** What was said, and how many tokens it has. */
export interface Transcribed {
  readonly transcription: Transcription
  readonly tokens: number
}

export type TextReply =
  | { readonly kind: 'loaded'; readonly failure: Failure | null; readonly hasTemplate: boolean }
  | { readonly kind: 'warning'; readonly text: string }
  /** It is at work. */
  | { readonly kind: 'step' }
  | { readonly kind: 'began'; readonly id: number; readonly promptTokens: number; readonly cachedTokens: number }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | ({ readonly kind: 'ended'; readonly id: number } & Ended)
  | ({ readonly kind: 'embedded'; readonly id: number } & Vectors)
  | { readonly kind: 'segment'; readonly id: number; readonly segment: SpeechSegment }
  | ({ readonly kind: 'transcribed'; readonly id: number } & Transcribed)
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure }
