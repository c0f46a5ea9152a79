import { type CompileMode, type PassOptions, type PlanInfo, TieredModule } from '../compiler/index.js'
import { check, PtliteError } from '../runtime/error.js'
import type { LinkedFunction } from '../runtime/interpreter/program.js'
import { Profiler } from '../runtime/interpreter/profile.js'
import { parseType, type TypeNode } from '../runtime/interpreter/types.js'
import { argumentCount } from '../runtime/interpreter/verifier.js'
import { type LoadOptions as ScriptLoadOptions, ScriptModule } from '../runtime/module/script-module.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { BackgroundInterpreter } from './background/interpret.js'
import { type Input, type Output, toOutput, toTyped, toValue } from './convert.js'

export interface LoadOptions {
  /**
   * 'auto', the default: a method that is called again with arguments of the same form (shapes, dtypes, other values) is compiled, and
   * replayed from then on. 'eager': compiled at its first call. 'off': every call is interpreted.
   */
  readonly compile?: CompileMode
  /**
   * false: compiled calls compute 3x3 convolutions as their definition says. By default larger ones use Winograd's F(4x4, 3x3), which
   * takes a third of the time and is within 2e-5 of the largest value (docs/compiler.md).
   */
  readonly winograd?: boolean
  /** Receives what the model warns about; the console by default. */
  readonly onWarning?: (text: string) => void
  /** Loop iterations and backward jumps after which a call is given up with an error; unlimited by default. */
  readonly maxIterations?: number
}

export interface CallOptions {
  /** Collects every operator call. */
  readonly profiler?: Profiler
}

export interface RunOptions {
  /** Gives the run up once it is aborted: after the kernel or operator that runs then. */
  readonly signal?: AbortSignal
}

/** A loaded model. */
export class Module {
  /** Types of the arguments of methods that were called, parsed once. */
  private readonly argumentTypes = new Map<LinkedFunction, TypeNode[]>()

  private readonly tiers: TieredModule
  private readonly background: BackgroundInterpreter
  /** Aborted at dispose. */
  private readonly end = new AbortController()

  constructor(
    private readonly script: ScriptModule,
    compile: CompileMode,
    passes: PassOptions,
  ) {
    this.tiers = new TieredModule(script, compile, passes)
    this.background = new BackgroundInterpreter(script)
  }

  /** Names of the methods that can be called. */
  get methods(): string[] {
    return this.script.methods.map((fn) => fn.source.method)
  }

  /** Qualified names of the operators that the code calls, sorted. */
  get operators(): string[] {
    const names = this.script.functions.flatMap((fn) => fn.operators.map((op) => op.qualifiedName))
    return [...new Set(names)].sort()
  }

  get bytecodeVersion(): number {
    return this.script.file.bytecodeVersion
  }

  /** Operator version of the file, which upgraders go by. */
  get operatorVersion(): number {
    return this.script.file.operatorVersion
  }

  /** Files that the exporter put beside the model, by name. */
  get extraFiles(): ReadonlyMap<string, Uint8Array> {
    return this.script.file.extraFiles
  }

  /** Parameters and buffers by qualified attribute name (`features.0.weight`), in the file's order. */
  parameters(): Map<string, Tensor> {
    return this.script.parameters()
  }

  /** Calls `forward`. */
  forward(...args: Input[]): Output {
    return this.call('forward', args)
  }

  /**
   * Calls a method and waits for it. Arguments are positional and without `self`; trailing ones that have
   * defaults may be left out. Throws PtliteError, with TorchScript's stack for errors inside the model.
   */
  call(method: string, args: readonly Input[] = [], options: CallOptions = {}): Output {
    const fn = this.script.method(method)
    const values = this.fit(fn, args)
    return toOutput(this.tiers.call(fn, values, options.profiler === undefined ? {} : { profiler: options.profiler }))
  }

  /**
   * Calls a method off the event loop: where a plan is ready for arguments of this form (see `compile`), on a native thread, else
   * in a worker thread that interprets it over the same memory. Several runs may be under way; those of a worker wait for each other.
   * Arguments must not be written to meanwhile; disposing them, or the module, is safe.
   *
   * Rejects as `call` throws, with the signal's reason once that is aborted, and with DISPOSED when the module is disposed. A model
   * that draws random numbers in the worker has a generator of its own there. Operators that were registered at run time are
   * unknown to the worker: such a model is run on this thread.
   */
  async run(method: string, args: readonly Input[] = [], { signal }: RunOptions = {}): Promise<Output> {
    const fn = this.script.method(method)
    const values = this.fit(fn, args)
    const ended = signal === undefined ? this.end.signal : AbortSignal.any([signal, this.end.signal])
    ended.throwIfAborted()
    this.script.beginUse()
    try {
      return toOutput(await (this.tiers.callAsync(fn, values, this.background.idle, ended) ?? this.interpretAside(fn, values, ended)))
    } finally {
      this.script.endUse()
    }
  }

  private async interpretAside(fn: LinkedFunction, values: readonly Value[], signal: AbortSignal): Promise<Value> {
    try {
      return await this.background.call(fn, values, signal)
    } catch (error) {
      if (error instanceof PtliteError && error.code === 'MISSING_OPERATOR') return this.tiers.call(fn, values)
      throw error
    }
  }

  /**
   * Compiles a method ahead for arguments of the form of `args`; runs it with them. Where the method cannot be compiled
   * `plans` says why, and calls are interpreted as before.
   */
  compile(method: string, args: readonly Input[] = []): Promise<void> {
    return new Promise((resolve) => {
      const fn = this.script.method(method)
      this.tiers.compile(fn, this.fit(fn, args))
      resolve()
    })
  }

  /**
   * What the compiler makes of a method called with arguments of this form: its operators as recorded and after each pass. Runs
   * the method. Throws INVALID_ARGUMENT where it cannot be recorded.
   */
  explain(method: string, args: readonly Input[] = []): string {
    const fn = this.script.method(method)
    return this.tiers.explain(fn, this.fit(fn, args))
  }

  /** What became of the calls so far, by method and input signature: compiled, or why not. */
  plans(): PlanInfo[] {
    return this.tiers.plans()
  }

  /** The value of an attribute of the root object, as the last call left it. */
  getAttribute(name: string): Output {
    return toOutput(this.script.attribute(name))
  }

  /** Gives weights and state back at once, or when the last background run has ended, which it makes them do. The module and views on its weights cannot be used afterwards. */
  dispose(): void {
    this.end.abort(new PtliteError('DISPOSED', 'the module was disposed'))
    this.tiers.dispose()
    this.background.dispose()
    this.script.dispose()
  }

  private fit(fn: LinkedFunction, args: readonly Input[]) {
    const { schema, method } = fn.source
    if (schema === null) {
      const count = argumentCount(fn.source) - 1
      if (args.length !== count) throw new PtliteError('INVALID_ARGUMENT', `${method}() takes ${count} arguments, found ${args.length}`)
      return args.map(toValue)
    }
    const params = schema.args.slice(1)
    if (args.length > params.length) {
      throw new PtliteError('INVALID_ARGUMENT', `${method}() takes ${params.length} arguments, found ${args.length}`)
    }
    return params.map((param, i) => {
      if (i >= args.length) {
        if (param.default !== undefined) return param.default
        const missing = params.slice(i).filter((p) => p.default === undefined)
        throw new PtliteError(
          'INVALID_ARGUMENT',
          `${method}() needs ${missing.map((p) => `${p.name}: ${p.type}`).join(', ')}; found ${args.length} arguments`,
        )
      }
      return toTyped(args[i], this.typeOf(fn, i), `${method}() argument ${i + 1} (${param.name})`)
    })
  }

  private typeOf(fn: LinkedFunction, argument: number): TypeNode {
    let types = this.argumentTypes.get(fn)
    if (types === undefined) this.argumentTypes.set(fn, (types = []))
    return (types[argument] ??= parseType(fn.source.schema!.args[argument + 1]!.type, this.script.namedTuples))
  }
}

/**
 * Loads a `.ptl` or `.ff` model from a path or from bytes; the content tells which it is. Weights of a file are
 * mapped and used in place. The model is verified and its operators are resolved before the promise fulfils;
 * it rejects with a PtliteError.
 */
export function loadModule(source: string | Uint8Array | ArrayBuffer, options: LoadOptions = {}): Promise<Module> {
  // the work is synchronous today; a promise lets compilation move into loading
  return new Promise((resolve) => {
    resolve(new Module(ScriptModule.load(source, scriptOptions(options)), compileMode(options), passOptions(options)))
  })
}

function compileMode({ compile = 'auto' }: LoadOptions): CompileMode {
  check(['auto', 'off', 'eager'].includes(compile), () => `compile: expected 'auto', 'off' or 'eager', found ${JSON.stringify(compile)}`)
  return compile
}

function passOptions({ winograd = true }: LoadOptions): PassOptions {
  check(typeof winograd === 'boolean', () => `winograd: expected true or false, found ${JSON.stringify(winograd)}`)
  return { winograd }
}

function scriptOptions(options: LoadOptions): ScriptLoadOptions {
  return {
    ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
    ...(options.maxIterations === undefined ? {} : { maxIterations: options.maxIterations }),
  }
}

export { Profiler }
