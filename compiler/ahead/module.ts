import type { CapturedRun } from '../capture/captured.js'
import type { Placement } from '../executor/placement.js'
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

/** The plan of a method for arguments of one form. */
export interface AheadPlan {
  readonly method: string
  /** Arguments of the form; the contents of their tensors mean nothing. */
  readonly example: readonly Value[]
  readonly captured: CapturedRun
  readonly placement: Placement
  /** Operator calls recorded, and left after the passes. */
  readonly operators: { readonly recorded: number; readonly optimized: number }
}

/** What a .ptlc file holds. */
export interface AheadModule {
  /** Version of the library that wrote it. */
  readonly library: string
  /** ISA level that weights were packed and kernels chosen for. */
  readonly level: string
  /** Name of the file it was compiled from, and the SHA-256 of its bytes in hexadecimal. */
  readonly original: string
  readonly sha256: string
  readonly bytecodeVersion: number
  readonly operatorVersion: number
  /** Qualified names of the operators that the original calls. */
  readonly operators: readonly string[]
  readonly methods: readonly AheadMethod[]
  readonly plans: readonly AheadPlan[]
}
