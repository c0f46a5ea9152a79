import type { SparseDescription } from '../../runtime/operators/cpu/support/sparse-weight.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { FrameLayout } from './frame-layout.js'
import type { ResultTemplate, Target } from './result.js'

export type { Target }

export interface Pointer {
  /** Byte of the address in its frame. */
  readonly at: number
  readonly target: Target
  /** Bytes from the start of a buffer or constant, or from an input's first element. */
  readonly offset: number
}

/** Blocks of a sparse weight in a constant, as sparse_gemm_store lays them out. */
export interface StoredBlocks {
  /** Number of the constant. */
  readonly constant: number
  readonly blocks: number
  /** Outputs of a block. */
  readonly width: number
  readonly description: SparseDescription
}

/** A copy of one kernel's frame, as it was launched. */
export interface CapturedFrame {
  readonly layout: FrameLayout
  readonly bytes: Uint8Array
  /** A copy of the JavaScript memory that the kernel was given. */
  readonly host: Uint8Array | null
  readonly pointers: readonly Pointer[]
  /** What its `handle` is to be made of, where it comes from a file; else its bytes have one of this process. */
  readonly stored?: StoredBlocks
  /** What was under way when it was launched, for people: `%3 = aten::relu`. */
  readonly label?: string
}

/** A storage that was made during the run. */
export interface CapturedBuffer {
  readonly bytes: number
  /** The result reaches it, so that it must outlive the run. */
  readonly isOutput: boolean
  /** What was under way when it was made, for people. */
  readonly label?: string
}

export interface Constant {
  readonly storage: Storage
  /** Of its contents, at capture. */
  readonly version: number
}

/** Everything that is needed to do a run again without the code that did it. */
export interface CapturedRun {
  readonly frames: readonly CapturedFrame[]
  readonly buffers: readonly CapturedBuffer[]
  readonly constants: readonly Constant[]
  /** For each input, the first one with the same storage. */
  readonly aliases: readonly number[]
  /** Inputs whose storage the run writes to. */
  readonly written: readonly number[]
  readonly result: ResultTemplate
}

export type Capture =
  | { readonly value: Value; readonly captured: CapturedRun }
  /** The run cannot be replayed; its value is right all the same. */
  | { readonly value: Value; readonly captured: null; readonly reason: string }
