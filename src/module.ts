import type { ArenaUse, CompileMode, PlanInfo } from '../compiler/index.js'
import type { Limits } from '../runtime/limits.js'
import type { ReadLimits } from '../formats/reading/read-options.js'
import type { Profiler } from '../engine/interpreter/profile.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Input, Output } from './convert.js'

export interface LoadOptions {
  /**
   * 'auto', the default: a method that is called again with arguments of the same form (shapes, dtypes, other values) is compiled, and
   * replayed from then on. 'eager': compiled at its first call. 'off': every call is interpreted.
   */
  readonly compile?: CompileMode
  /**
   * false: compiled calls compute 3x3 convolutions as their definition says, as they do with PTLITE_WINOGRAD=0 in the environment. By default larger ones use Winograd's F(4x4, 3x3), which
   * takes a third of the time and is within 2e-5 of the largest value (docs/compiler.md).
   */
  readonly winograd?: boolean
  /**
   * false: a file is read into memory of its own instead of being mapped, for files that others may write to: it takes the time to read it and
   * its size in memory for each process. Without it weights are used in place, and processes share them.
   */
  readonly map?: boolean
  /**
   * true: the checksums of tensors in a `.ptl` file are checked, too: INVALID_FILE where they are damaged. It reads all of the file, which takes about
   * half a millisecond for each megabyte. Those of programs and attributes are always checked; `.ff` files have none.
   */
  readonly verify?: boolean
  /** Receives what the model warns about; the console by default. */
  readonly onWarning?: (text: string) => void
  /**
   * What the code that loading runs may take, and each call of the module that does not say otherwise: LIMIT_EXCEEDED beyond. Loading has limits
   * without, too (docs/limits.md), and one more, `objects`, for what the file's values take.
   */
  readonly limits?: Limits & ReadLimits
  /** Loop iterations and backward jumps after which a call is given up with LIMIT_EXCEEDED; unlimited by default. */
  readonly maxIterations?: number
}

export interface CallOptions {
  /** Collects every operator call, which makes the call be interpreted, or every kernel call of its plan; of a `.ptlc` file always that. */
  readonly profiler?: Profiler
  /** What the call may take, in place of what its module's limits say: LIMIT_EXCEEDED beyond. */
  readonly limits?: Limits
}

export interface RunOptions {
  /** Gives the run up once it is aborted: in the middle of loops and large kernels, too. */
  readonly signal?: AbortSignal
  /** What the run may take, in place of what its module's limits say: LIMIT_EXCEEDED beyond. Time that it waits for its turn does not count. */
  readonly limits?: Limits
}

/**
 * A loaded model. One that was compiled ahead (`.ptlc`) has the methods, for arguments of the forms, that it was compiled with; for all
 * else it needs the model that it was compiled from beside it, and throws INVALID_ARGUMENT without.
 */
export abstract class Module {
  /** Names of the methods that can be called. */
  abstract get methods(): string[]

  /** Qualified names of the operators that the code calls, sorted. */
  abstract get operators(): string[]

  abstract get bytecodeVersion(): number

  /** Operator version of the file, which upgraders go by. */
  abstract get operatorVersion(): number

  /** Files that the exporter put beside the model, by name. */
  abstract get extraFiles(): ReadonlyMap<string, Uint8Array>

  /** Parameters and buffers by qualified attribute name (`features.0.weight`), in the file's order. */
  abstract parameters(): Map<string, Tensor>

  /**
   * Calls a method and waits for it. Arguments are positional and without `self`; trailing ones that have
   * defaults may be left out. Throws PtliteError, with TorchScript's stack for errors inside the model.
   */
  abstract call(method: string, args?: readonly Input[], options?: CallOptions): Output

  /**
   * Calls a method off the event loop: where a plan is ready for arguments of this form (see `compile`), on a native thread, else
   * in a worker thread that interprets it over the same memory. Several runs may be under way; those of a worker wait for each other.
   * Arguments must not be written to meanwhile; disposing them, or the module, is safe.
   *
   * Rejects as `call` throws, with the signal's reason once that is aborted, and with DISPOSED when the module is disposed. A model
   * that draws random numbers in the worker has a generator of its own there. Operators that were registered at run time are
   * unknown to the worker: such a model is run on this thread.
   */
  abstract run(method: string, args?: readonly Input[], options?: RunOptions): Promise<Output>

  /**
   * Compiles a method ahead for arguments of the form of `args`; runs it with them. Where the method cannot be compiled
   * `plans` says why, and calls are interpreted as before. A module with more than 64 kB of weights is compiled in a worker thread, as by
   * `run`; what that cannot do, which is to make regions for `call`, follows on this thread.
   */
  abstract compile(method: string, args?: readonly Input[]): Promise<void>

  /**
   * What the compiler makes of a method called with arguments of this form: its operators as recorded and after each pass. Runs
   * the method. Throws INVALID_ARGUMENT where it cannot be recorded.
   */
  abstract explain(method: string, args?: readonly Input[]): string

  /** What the plan for a call with arguments of this form keeps in its arena, frame by frame. Compiles it where there is none yet, which runs the method. Throws INVALID_ARGUMENT where there can be no plan. */
  abstract arena(method: string, args?: readonly Input[]): ArenaUse

  /** What became of the calls so far, by method and input signature: compiled, or why not. */
  abstract plans(): PlanInfo[]

  /** The value of an attribute of the root object, as the last call left it. */
  abstract getAttribute(name: string): Output

  /** Gives weights and state back at once, or when the last background run has ended, which it makes them do. The module and views on its weights cannot be used afterwards. */
  abstract dispose(): void

  /** Calls `forward`. */
  forward(...args: Input[]): Output {
    return this.call('forward', args)
  }
}
