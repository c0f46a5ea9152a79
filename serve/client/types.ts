import { type DataOf, type Datatype, type TypedData } from './datatypes.js'

export type ParameterValue = string | number | boolean
export type Parameters = Readonly<Record<string, ParameterValue>>

/** An input by its parts. */
export interface InputTensor {
  /**
   * The elements in row-major order. A typed array says its datatype itself; booleans are BOOL, strings and arrays of bytes BYTES; other
   * arrays need `datatype`.
   */
  readonly data:
    TypedData | Uint8ClampedArray | readonly number[] | readonly bigint[] | readonly boolean[] | readonly string[] | readonly Uint8Array[]
  /** `[data.length]` where it is left out. */
  readonly shape?: readonly number[]
  readonly datatype?: Datatype
  readonly parameters?: Parameters
}

/** A tensor of ptlite, or whatever has its dtype, shape and elements. */
export interface TensorLike {
  readonly dtype: string
  readonly shape: readonly number[]
  data(): TypedData
}

export type Input = InputTensor | TensorLike

/** An output: `datatype` tells which array `data` is. */
export type OutputTensor = {
  [D in Datatype]: {
    readonly name: string
    readonly datatype: D
    readonly shape: readonly number[]
    readonly data: DataOf[D]
    readonly parameters: Parameters
  }
}[Datatype]

export interface InferResult {
  readonly modelName: string
  readonly modelVersion: string | undefined
  readonly id: string | undefined
  readonly parameters: Parameters
  /** By name, in the model's order. */
  readonly outputs: Readonly<Record<string, OutputTensor>>
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, and on the server what it started. */
  readonly signal?: AbortSignal
  /** For the whole call, with the times between attempts; that of the client where it is left out. */
  readonly timeoutMs?: number
}

export interface VersionOptions extends CallOptions {
  /** The server's choice where it is left out. */
  readonly version?: string | number
}

/** That a request is one of a sequence, which a stateful model keeps together. */
export interface SequenceStep {
  /** Neither 0 nor empty. */
  readonly id: string | number
  readonly start?: boolean
  readonly end?: boolean
}

export interface InferOptions extends VersionOptions {
  /** Names of the outputs that are wanted; all where it is left out. */
  readonly outputs?: readonly string[]
  readonly parameters?: Parameters
  /** Comes back in the result, and stands in the server's logs. */
  readonly id?: string
  /** 1 is served first, then 2; 0 is the server's default. */
  readonly priority?: number
  readonly sequence?: SequenceStep
}

export interface ClientOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** For a call with all its attempts; 60 s by default, `Infinity` for none. */
  readonly timeoutMs?: number
  /** How often a call that may be made again is made again; 3 by default. */
  readonly retries?: number
  /** Tensors as bytes instead of JSON: `auto` (the default) asks the server, once, whether it takes them. */
  readonly binary?: boolean | 'auto'
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** An answer may not be larger; 1 GiB by default. */
  readonly maxResponseBytes?: number
  /** In place of the global one. */
  readonly fetch?: typeof fetch
}

export interface ServerMetadata {
  readonly name: string
  readonly version: string
  readonly extensions: readonly string[]
}

export interface TensorMetadata {
  readonly name: string
  readonly datatype: string
  /** -1 where a size is not fixed. */
  readonly shape: readonly number[]
}

export interface ModelMetadata {
  readonly name: string
  readonly versions: readonly string[]
  readonly platform: string
  readonly inputs: readonly TensorMetadata[]
  readonly outputs: readonly TensorMetadata[]
}

export interface IndexEntry {
  readonly name: string
  readonly version: string | undefined
  readonly state: string
  readonly reason: string
}

/** How often something happened, and how long it took in all. */
export interface DurationStatistics {
  readonly count: number
  readonly ns: number
}

export interface ModelStatistics {
  readonly name: string
  readonly version: string | undefined
  /** Milliseconds since 1970, or 0. */
  readonly lastInference: number
  readonly inferenceCount: number
  readonly executionCount: number
  /** `success`, `fail`, `queue`, `compute_input`, `compute_infer`, `compute_output` and what else the server counts. */
  readonly inference: Readonly<Record<string, DurationStatistics>>
  readonly batches: readonly { readonly size: number; readonly computeInfer: DurationStatistics }[]
}
