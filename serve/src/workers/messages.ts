import type { ArgumentInfo } from 'ptlite'
import type { Datatype, ElementArray } from '../protocol/datatypes.js'

/** What an argument of a model's method is made of. */
export type ArgumentKind = 'Tensor' | 'int' | 'float' | 'bool' | 'str' | 'List[int]' | 'List[float]' | 'List[bool]' | 'List[str]'

/** A tensor as it crosses threads: what its elements lie in is the receiver's. */
export interface SentTensor {
  readonly datatype: Datatype
  readonly shape: readonly number[]
  readonly data: ElementArray
}

/** null: an argument that was left out. */
export type SentArgument = SentTensor | SentBytes | null

export interface SentBytes {
  readonly datatype: 'BYTES'
  readonly shape: readonly number[]
  readonly strings: readonly Uint8Array[]
}

/** What a worker starts with. */
export interface WorkerSettings {
  readonly nice: number
}

export interface ModelStart {
  /** By which later messages name it. */
  readonly slot: number
  readonly path: string
  readonly method: string
  readonly compile: 'auto' | 'off' | 'eager'
  /** Calls before it is ready. */
  readonly warmUp: readonly (readonly SentTensor[])[]
  /** A warm-up that fails is one of the server's making, and not a fault. */
  readonly mayFail: boolean
  /** Rows that each of them is repeated to. */
  readonly batchSizes: readonly number[]
  /** Nobody has asked for these sizes: those that would take long are left out. */
  readonly mayLeaveOut: boolean
  readonly kinds: readonly ArgumentKind[] | null
  readonly bytes: number | null
  /** That loading it may take, and each call of its warm-up. */
  readonly milliseconds: number
  readonly map: boolean
  readonly eval: boolean
  /** It keeps what it is given from call to call. */
  readonly stateful: boolean
}

export interface LoadRequest {
  readonly kind: 'load'
  readonly start: ModelStart
}

export interface UnloadRequest {
  readonly kind: 'unload'
  readonly slot: number
}

export interface RunRequest {
  readonly kind: 'run'
  readonly id: number
  readonly slot: number
  /** Of one request, or of several, whose rows follow each other in a batch. */
  readonly parts: readonly (readonly SentArgument[])[]
  /** What is left of its time; null where there is no limit. */
  readonly milliseconds: number | null
  /** A sequence has a model of its own, from `start` until `end`. */
  readonly sequence: { readonly id: string; readonly start: boolean; readonly end: boolean } | null
}

export interface CancelRequest {
  readonly kind: 'cancel'
  readonly id: number
}

export interface EndSequenceRequest {
  readonly kind: 'end sequence'
  readonly slot: number
  readonly id: string
}

export type Request = LoadRequest | UnloadRequest | RunRequest | CancelRequest | EndSequenceRequest

export interface Failure {
  /** Of PtliteError; null for what nobody foresaw. */
  readonly code: string | null
  readonly message: string
}

export interface Described {
  readonly inputs: readonly ArgumentInfo[] | null
  readonly outputs: readonly ArgumentInfo[] | null
}

export interface Loaded extends Described {
  readonly kind: 'loaded'
  readonly slot: number
  readonly failure: Failure | null
  /** What a warm-up call took at last, in milliseconds; null without one. */
  readonly milliseconds: number | null
  /** The largest of `batchSizes` that it is warmed up for; null where there are none. */
  readonly rows: number | null
  /** Of the warm-up that was tried and failed. */
  readonly warning: string | null
  readonly results: readonly Pick<SentTensor, 'datatype' | 'shape'>[] | null
}

/** Nanoseconds that a run took to make tensors of its inputs, to compute, and to take its outputs out. */
export interface Durations {
  readonly input: number
  readonly infer: number
  readonly output: number
}

export interface NamedResult {
  /** null where results have no names. */
  readonly name: string | null
  readonly value: SentTensor | SentBytes
}

export interface Result {
  readonly kind: 'result'
  readonly id: number
  readonly failure: Failure | null
  readonly outputs: readonly NamedResult[]
  /** Memory of the request's inputs, which nothing uses any more. */
  readonly returned: readonly ArrayBuffer[]
  readonly durations: Durations
}

export interface Usage {
  readonly kind: 'usage'
  /** Of this thread: bytes of tensors in use, and V8's heap. */
  readonly tensorBytes: number
  readonly heapBytes: number
}

/** A step of a load begins, and ends within so many milliseconds, or the thread hangs. */
export interface Step {
  readonly kind: 'step'
  readonly slot: number
  readonly milliseconds: number
}

export type Reply = Loaded | Result | Usage | Step | { readonly kind: 'warning'; readonly slot: number; readonly text: string }
