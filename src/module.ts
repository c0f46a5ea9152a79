import type { ArenaUse, PlanInfo } from '../compiler/index.js'
import type { AheadForms, Engine, MethodSignature } from '../engine/engine.js'
import type { CallOptions, RunOptions } from '../engine/options.js'
import type { ModuleState } from '../engine/saved-state.js'
import type { MissingOperator } from '../program/missing.js'
import type { ModelGraph } from '../program/graph-info.js'
import type { ArgumentInfo } from '../program/signature-info.js'
import { PtliteError } from '../runtime/error.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { callSettings, runSettings } from './call-options.js'
import { lastRow } from './values/last-row.js'
import { type Input, type Output, toOutput } from './values/convert.js'
import { type Parameters, parametersFor } from './fit.js'
import { boolean, checkOptions, reading } from '../runtime/tensor/check-arguments.js'

/**
 * A loaded model. One that was compiled ahead (`.ptlc`) has the methods, for arguments of the forms, that it was compiled with; for all
 * else it needs the model that it was compiled from beside it, and throws INVALID_ARGUMENT without.
 *
 * `Result` of a call is what the caller knows that the model gives, `forward<Tensor>(x)` or `forward<[Tensor, Tensor]>(x)`; it is not checked.
 *
 * @example
 * ```ts
 * const y = model.forward<Tensor>(x) // at once; from the third call with inputs of a shape on a plan runs
 * const z = await model.run<Tensor>('forward', [x], { signal: AbortSignal.timeout(1000) }) // off the event loop
 * console.log(model.inputs, model.methods, model.parameters())
 * model.dispose()
 * ```
 */
export class Module {
  /** Of methods that were called. */
  private readonly parameterLists = new Map<MethodSignature, Parameters>()

  /** `dispose`, at the end of a block that has it by `using`. */
  declare readonly [Symbol.dispose]: () => void

  private constructor(private readonly engine: Engine) {}

  /** @internal */
  static over(engine: Engine): Module {
    return new Module(engine)
  }

  /** Names of the methods that can be called. */
  get methods(): string[] {
    return this.engine.methods
  }

  /** Qualified names of the operators that the code calls, sorted. */
  get operators(): string[] {
    return this.engine.operators
  }

  /** Operators that the code calls and this build lacks, with the methods that may come to them: a call that does throws MISSING_OPERATOR. */
  get missing(): MissingOperator[] {
    return this.engine.missing.map(({ operator, methods }) => ({ operator, methods: [...methods] }))
  }

  /** Version of the bytecode in the file. */
  get bytecodeVersion(): number {
    return this.engine.bytecodeVersion
  }

  /** Operator version of the file, which upgraders go by. */
  get operatorVersion(): number {
    return this.engine.operatorVersion
  }

  /** Files that the exporter put beside the model, by name. */
  get extraFiles(): ReadonlyMap<string, Uint8Array> {
    return this.engine.extraFiles
  }

  /**
   * What `forward` takes, after `self`: names and types of its schema. Of a program of `torch.export` (`.pt2`) every value in its arguments,
   * with dtypes, sizes and the ranges of those that may differ. null where the file does not say.
   */
  get inputs(): readonly ArgumentInfo[] | null {
    return this.engine.inputs
  }

  /** What `forward` gives, like `inputs`. null where the file does not say: a `.ptlc` file, until its model is loaded. */
  get outputs(): readonly ArgumentInfo[] | null {
    return this.engine.outputs
  }

  /** What a `.ptlc` file keeps between calls, and the calls that it has plans for, without its model; null for others, which take any call. */
  forms(): AheadForms | null {
    return this.engine.forms()
  }

  /** Parameters and buffers by qualified attribute name (`features.0.weight`), in the file's order. */
  parameters(): Map<string, Tensor> {
    const parameters = this.engine.parameters()
    for (const t of parameters.values()) Tensor.expose(t)
    return parameters
  }

  /**
   * Calls a method and waits for it. Arguments are positional and without `self`; trailing ones that have
   * defaults may be left out. Throws PtliteError, with TorchScript's stack for errors inside the model.
   */
  call(method: string, args?: readonly Input[], options?: CallOptions): Output
  call<Result extends Output>(method: string, args?: readonly Input[], options?: CallOptions): Result
  call(method: string, args: readonly Input[] = [], options?: CallOptions): Output {
    const values = this.#fit(method, args)
    const settings = callSettings(options)
    const output = toOutput(this.engine.call(method, values, settings))
    return settings.lastRow === true ? lastRow(output) : output
  }

  /**
   * Calls a method off the event loop: where a plan is ready for arguments of this form (see `compile`), on a native thread, else
   * in a worker thread that interprets it over the same memory. Several runs may be under way; those of a worker wait for each other.
   * Arguments must not be written to meanwhile; disposing them, or the module, is safe.
   *
   * Rejects as `call` throws, with ABORTED once that is aborted, and with DISPOSED when the module is disposed. A model
   * that draws random numbers in the worker has a generator of its own there. Operators that were registered at run time are
   * unknown to the worker: such a model is run on this thread.
   */
  run(method: string, args?: readonly Input[], options?: RunOptions): Promise<Output>
  run<Result extends Output>(method: string, args?: readonly Input[], options?: RunOptions): Promise<Result>
  async run(method: string, args: readonly Input[] = [], options?: RunOptions): Promise<Output> {
    const settings = runSettings(options)
    const output = toOutput(await this.engine.run(method, this.#fit(method, args), settings))
    return settings.lastRow === true ? lastRow(output) : output
  }

  /**
   * Compiles a method ahead for arguments of the form of `args`; runs it with them. Where the method cannot be compiled
   * `plans` says why, and calls are interpreted as before. A module with more than 64 kB of weights is compiled in a worker thread, as by
   * `run`; what that cannot do, which is to make regions for `call`, follows on this thread.
   */
  async compile(method: string, args: readonly Input[] = []): Promise<void> {
    await this.engine.compile(method, this.#fit(method, args))
  }

  /**
   * What the compiler makes of a method called with arguments of this form: its operators as recorded and after each pass. Runs
   * the method. Throws INVALID_ARGUMENT where it cannot be recorded.
   */
  explain(method: string, args: readonly Input[] = []): string {
    return this.engine.explain(method, this.#fit(method, args))
  }

  /**
   * The operators of a call with arguments of this form, with the sizes of what they give: as the method calls them, or with `optimized` as the
   * compiler makes a plan of them. Runs the method. Throws INVALID_ARGUMENT where it cannot be recorded, as `plans` explains. `inspectModel` has the
   * graph of what the code says, without running it.
   */
  graph(method: string, args: readonly Input[] = [], options: GraphOptions = {}): ModelGraph {
    return this.engine.graph(method, this.#fit(method, args), optimizedOf(options))
  }

  /** What the plan for a call with arguments of this form keeps in its arena, frame by frame. Compiles it where there is none yet, which runs the method. Throws INVALID_ARGUMENT where there can be no plan. */
  arena(method: string, args: readonly Input[] = []): ArenaUse {
    return this.engine.arena(method, this.#fit(method, args))
  }

  /** The state of each method and input signature that was called: compiled, or why not. */
  plans(): PlanInfo[] {
    return this.engine.plans()
  }

  /** The value of an attribute of the root object, as the last call left it. */
  getAttribute(name: string): Output
  getAttribute<Result extends Output>(name: string): Result
  getAttribute(name: string): Output {
    return toOutput(this.engine.attribute(name))
  }

  /**
   * A copy of what calls have changed so far: tensors that they wrote to, attributes that they set, and what lists and dicts hold. `loadState` puts it back, as
   * often as one likes; the module goes on where it was. No run may be under way meanwhile. Tensors that no call has written to are not in it.
   */
  saveState(): ModuleState {
    return this.engine.saveState()
  }

  /**
   * Puts back what `saveState` gave. Throws INVALID_ARGUMENT for the state of another module, and where calls have changed a tensor that none had changed
   * when it was saved.
   */
  loadState(state: ModuleState): void {
    this.engine.loadState(state)
  }

  /**
   * Sets `training` of the module and of all its submodules to `mode`, as PyTorch does; dropout, batch normalization and their kind go by it. Plans of
   * the other mode are kept for when it comes back. Runs that are under way end in the mode that they began in. Programs of `torch.export` and
   * modules that were frozen have no such attribute: what they do is fixed. Returns the module.
   */
  train(mode = true): this {
    if (typeof mode !== 'boolean') throw new PtliteError('INVALID_ARGUMENT', `train(): expected true or false, found ${kindOf(mode)}`)
    this.engine.setTraining(mode)
    return this
  }

  /** `train(false)` */
  eval(): this {
    return this.train(false)
  }

  /** Gives weights and state back at once, or when the last background run has ended, which it makes them do. The module and views on its weights cannot be used afterwards. */
  dispose(): void {
    this.engine.dispose()
  }

  /** Calls `forward`. */
  forward(...args: Input[]): Output
  forward<Result extends Output>(...args: Input[]): Result
  forward(...args: Input[]): Output {
    return this.call('forward', args)
  }

  /** The values of a call's arguments, defaults included. Throws INVALID_ARGUMENT. */
  #fit(method: string, args: readonly Input[]): Value[] {
    const signature = this.engine.signature(method)
    let list = this.parameterLists.get(signature)
    if (list === undefined) this.parameterLists.set(signature, (list = parametersFor(method, signature)))
    return list.fit(args)
  }
}

type ArgumentsOf<Method> = Method extends (...args: infer Given) => unknown ? Readonly<Given> : never
type Methods<M> = { [Name in keyof M]: (...args: never[]) => unknown }

/**
 * A module whose methods are those of `M`, which `ptlite types` writes: `forward`, and what `call` and `run` take and give. All else is as of Module.
 */
export type TypedModule<M extends Methods<M>> = Omit<Module, 'forward' | 'call' | 'run'> &
  Pick<M, Extract<'forward', keyof M>> & {
    /** Calls a method and waits for it, as `Module.call`. */
    call<Name extends keyof M>(method: Name, args: ArgumentsOf<M[Name]>, options?: CallOptions): ReturnType<M[Name]>
    /** Calls a method off the event loop, as `Module.run`. */
    run<Name extends keyof M>(method: Name, args: ArgumentsOf<M[Name]>, options?: RunOptions): Promise<ReturnType<M[Name]>>
  }

/** Options of `Module.graph`. */
export interface GraphOptions {
  /** The graph that plans are made from, in place of that of the calls. */
  readonly optimized?: boolean
}

/** Throws INVALID_ARGUMENT for unknown options. */
function optimizedOf(options: GraphOptions): boolean {
  reading(() => checkOptions(options, { optimized: boolean } satisfies Record<keyof GraphOptions, unknown>, 'graph()'))
  return options.optimized ?? false
}
