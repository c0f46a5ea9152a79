import type { CapturedRun } from '../../compiler/capture/captured.js'
import type { BufferAssignment } from '../../compiler/executor/buffer-assignment.js'
import type { MissingOperator } from '../../program/missing.js'
import type { TrainingLayer } from '../../program/training-layers.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'

export interface AheadArgument {
  readonly name: string
  readonly type: string
  readonly default: Value | undefined
}

/** A method that has plans. */
export interface AheadMethod {
  readonly name: string
  readonly arguments: readonly AheadArgument[]
}

/** An attribute of the module that calls change: a tensor, which is an input of plans. */
export interface AheadState {
  /** Its dotted name. */
  readonly name: string
  /** The slots that lead to it from the module. */
  readonly slots: readonly number[]
  /** With what it holds in the file that was compiled. */
  readonly tensor: Tensor
}

/** The plan of a method for arguments of one form. */
export interface AheadPlan {
  readonly method: string
  /** Arguments of the form; the contents of their tensors mean nothing. */
  readonly example: readonly Value[]
  /** Its inputs are the tensors of the arguments, and then those of `state`. */
  readonly captured: CapturedRun
  /** Numbers of the module's states. */
  readonly state: readonly number[]
  /** Inputs whose contents are put back where a run fails. */
  readonly kept: readonly number[]
  /** Of its result, or of the first tensor in it, it gives the last row alone. */
  readonly lastRow: boolean
  readonly placement: BufferAssignment
  /** Operator calls recorded, and left after the passes. */
  readonly operators: { readonly recorded: number; readonly optimized: number }
}

/** A call that was to be compiled and is left to the interpreter. */
export interface UnplannedCall {
  readonly method: string
  /** The form of its arguments, for people. */
  readonly signature: string
  readonly reason: string
}

/** The file that a .ptlc file was compiled from. */
export interface OriginalFile {
  /** Its name, without a folder. */
  readonly original: string
  readonly originalBytes: number
  /** What tells it from others of that size without reading all of it: src/fingerprint.ts. */
  readonly fingerprint: string
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string
}

/** A kernel of the plans. */
export interface AheadKernel {
  readonly name: string
  /** Of its declaration. */
  readonly hash: number
  /** ISA level that served it where the plans were made. */
  readonly level: string
}

/** The mode that plans were made in. */
export interface AheadTraining {
  /** What the module's `train(mode)` was called with before; null where it was as in its file. */
  readonly set: boolean | null
  /** Some module was in training mode. */
  readonly isOn: boolean
  /** Those that go by it. */
  readonly layers: readonly TrainingLayer[]
}

/** What the weights of layers were rounded to: options of the load. */
export interface AheadWeights {
  readonly weights: WeightName
  readonly group?: number
  readonly activations?: (typeof ACTIVATION_NAMES)[number]
}

/** What activations are multiplied as, where that is not the format's default. */
export const ACTIVATION_NAMES = ['float', 'bfloat16'] as const

export const WEIGHT_NAMES = ['int8', 'int4', 'bfloat16', 'float16'] as const
export type WeightName = (typeof WEIGHT_NAMES)[number]

export const CACHE_NAMES = ['int8', 'bfloat16', 'float16'] as const
export type CacheName = (typeof CACHE_NAMES)[number]

/** What a .ptlc file holds. */
export interface AheadModule extends OriginalFile {
  /** Version of the library that wrote it. */
  readonly library: string
  /** ISA level that weights were packed and kernels chosen for: the highest that was in use. */
  readonly level: string
  /** Not there where weights stayed as they are. */
  readonly rounding?: AheadWeights
  /** What caches of keys and values were rounded to, where they were. */
  readonly kvCache?: CacheName
  /** All levels that were in use then; kernels of the plans are served by these alone. */
  readonly levels: readonly string[]
  readonly bytecodeVersion: number
  readonly operatorVersion: number
  /** Qualified names of the operators that the original calls. */
  readonly operators: readonly string[]
  readonly methods: readonly AheadMethod[]
  readonly plans: readonly AheadPlan[]
  readonly states: readonly AheadState[]
  readonly unplanned: readonly UnplannedCall[]
  readonly training: AheadTraining
  /** What the original names and this build lacked. */
  readonly missing: readonly MissingOperator[]
}
