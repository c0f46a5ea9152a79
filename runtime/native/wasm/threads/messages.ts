import type { CompiledModule, Memory } from '../web-assembly.js'

/** The first message to a thread: what its instance is made of. */
export interface Start {
  readonly module: CompiledModule
  readonly memory: Memory
  /** The end of its stack, which grows downwards, and the block for its thread_locals. */
  readonly stack: number
  readonly locals: number
  /** When the clock of the first thread was 0. */
  readonly origin: number
  /** Helpers work on parts of kernels until they are dismissed; others run the kernels that they are told to. */
  readonly isHelper: boolean
}

/** To a thread that is no helper: the address of a frame, or that it is to end. */
export type Order = { readonly frame: number } | 'end'

/** What threads say: that they have begun, that they have ended in order, the status of a frame, or that the engine ended a kernel. */
export type Said = 'begun' | 'ended' | { readonly status: number } | { readonly trap: string }
