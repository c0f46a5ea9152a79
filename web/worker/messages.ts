import type { LoadOptions, LoadProgress } from '../../engine/options.js'
import type { MissingOperator } from '../../program/missing.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import type { ErrorCode } from '../../runtime/error.js'
import type { Limits } from '../../runtime/limits.js'
import type { KernelSource } from '../../runtime/native/wasm/locate.js'
import type { DTypeName } from '../../runtime/tensor/dtype.js'
import type { Quant } from '../../runtime/tensor/tensor.js'

/** A tensor on its way between threads: its buffer goes over, and is not copied. */
export interface SentTensor {
  readonly kind: 'tensor'
  readonly dtype: DTypeName
  readonly shape: readonly number[]
  readonly buffer: ArrayBuffer
  readonly quant: Quant | null
}

/** A value on its way. What occurs twice in a message is one object in it, which threads keep so. */
export type Sent =
  | null
  | boolean
  | number
  | bigint
  | string
  | SentTensor
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'complex'; readonly re: number; readonly im: number }
  | { readonly kind: 'list' | 'tuple'; readonly items: Sent[] }
  | { readonly kind: 'dict'; readonly entries: (readonly [Sent, Sent])[] }

/** Where the worker reads the model: there, or in pieces that it asks for. */
export type SentSource =
  | { readonly kind: 'whole'; readonly source: string | Uint8Array | ArrayBuffer | Blob }
  | { readonly kind: 'pieces'; readonly promised: number }

export interface SentOptions extends Omit<LoadOptions, 'signal' | 'onWarning' | 'onProgress'> {
  /** Warnings are to be sent. */
  readonly warns: boolean
  /** So is how much has come. */
  readonly reports: boolean
}

export interface LoadRequest {
  readonly kind: 'load'
  readonly source: SentSource
  readonly options: SentOptions
  readonly kernels: KernelSource | undefined
}

export interface PieceMessage {
  readonly kind: 'piece'
  /** undefined behind the last one. */
  readonly bytes: Uint8Array | undefined
  readonly failure?: Failure
}

export interface CallRequest {
  readonly kind: 'run' | 'compile'
  readonly method: string
  readonly args: readonly Sent[]
  readonly limits: Limits | undefined
  /** It may be given up while it runs. */
  readonly isAbortable: boolean
}

/** Nobody waits for the call any more that was sent last. */
export interface AbortMessage {
  readonly kind: 'abort'
}

export type Request = LoadRequest | PieceMessage | CallRequest | AbortMessage

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

/** What a module says of itself. */
export interface About {
  readonly methods: readonly string[]
  readonly operators: readonly string[]
  readonly missing: readonly MissingOperator[]
  readonly inputs: readonly ArgumentInfo[] | null
  readonly outputs: readonly ArgumentInfo[] | null
}

export type Reply =
  | { readonly kind: 'pull' }
  | { readonly kind: 'loaded'; readonly about: About }
  | { readonly kind: 'result'; readonly value: Sent }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'warning'; readonly text: string }
  | { readonly kind: 'progress'; readonly progress: LoadProgress }
