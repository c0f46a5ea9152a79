import type { RunOptions } from '../../engine/options.js'
import type { MissingOperator } from '../../program/missing.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import type { Input, Output } from '../../src/values/convert.js'
import type { DetachedTensor } from '../../runtime/tensor/detached.js'
import type { Connection } from './connection.js'
import type { About } from './messages.js'

/** What a model in a worker may be given: in place of a tensor also its plain data, `{ dtype, shape, buffer }`, whose buffer goes over and is empty here afterwards. */
export type WorkerInput = Input | DetachedTensor | Omit<DetachedTensor, 'quant'> | readonly WorkerInput[]

/** Workers of modules that nobody has any more. */
const abandoned = new FinalizationRegistry<Connection>((connection) => connection.retire())

/**
 * A model that a worker runs. Calls are answered in their order, one after the other; what a model is given is copied there, and what it changes in its
 * arguments stays there. An aborted call rejects at once: one that waits is left out; a compiled one that runs is ended where threads can share memory, and elsewhere
 * runs to its end, which later ones wait for.
 */
export class WorkerModule {
  /** `dispose`, at the end of a block that has it by `using`. */
  declare readonly [Symbol.dispose]: () => void

  /** Names of the methods that can be called. */
  readonly methods: readonly string[]
  /** Qualified names of the operators that the code calls, sorted. */
  readonly operators: readonly string[]
  /** Operators that the code calls and this build lacks, with the methods that may come to them. */
  readonly missing: readonly MissingOperator[]
  /** What `forward` takes; null where the file does not say. */
  readonly inputs: readonly ArgumentInfo[] | null
  /** What `forward` gives; null where the file does not say. */
  readonly outputs: readonly ArgumentInfo[] | null

  readonly #connection: Connection

  private constructor(connection: Connection, about: About) {
    this.#connection = connection
    this.methods = about.methods
    this.operators = about.operators
    this.missing = about.missing
    this.inputs = about.inputs
    this.outputs = about.outputs
    abandoned.register(this, connection, connection)
  }

  /** @internal */
  static over(connection: Connection, about: About): WorkerModule {
    return new WorkerModule(connection, about)
  }

  /** Calls `forward`. */
  forward<Result extends Output = Output>(...args: WorkerInput[]): Promise<Result> {
    return this.run<Result>('forward', args)
  }

  /** Calls a method, as `run` of a module here: rejects as it throws, and with ABORTED once that is aborted. */
  async run<Result extends Output = Output>(method: string, args: readonly WorkerInput[] = [], options: RunOptions = {}): Promise<Result> {
    return (await this.#connection.call('run', method, args, options)) as Result
  }

  /** Compiles a method for arguments of this form, as `compile` of a module here. */
  async compile(method: string, args: readonly WorkerInput[] = []): Promise<void> {
    await this.#connection.call('compile', method, args, {})
  }

  /** Ends the worker, and what it is computing. Calls that were not answered reject with DISPOSED. */
  dispose(): void {
    abandoned.unregister(this.#connection)
    this.#connection.dispose()
  }
}

if ((Symbol.dispose as symbol | undefined) !== undefined)
  Object.defineProperty(WorkerModule.prototype, Symbol.dispose, {
    value(this: WorkerModule) {
      this.dispose()
    },
  })
