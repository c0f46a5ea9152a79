import { type Input, loadModule, type Module, type ModuleState, type Output, PtliteError, Tensor } from 'ptlite'
import { toArgument, toBatch, toResults } from './convert.js'
import type { ArgumentKind, Durations, Failure, ModelStart, NamedResult, RunRequest, SentArgument, SentTensor } from './messages.js'
import { joinRows, rowsOf } from './rows.js'

export interface Ran {
  readonly outputs: NamedResult[]
  readonly durations: Durations
}

/** Milliseconds of calls that nothing else of the thread has to wait for. */
const SHORT = 50
/** Milliseconds of runs after which others are made on this thread. */
const SHORT_RUN = 20
const TRIES = 25
/** How much longer than a call its compilation may take, as the library has it. */
const COMPILATION = 10
/** What a batch may take of the time that a call has, where nobody has asked for its size. */
const BATCH_SHARE = 1 / 4
/** Calls that are timed when it is warmed up. */
const RUNS = 2
const SHORT_CALLS = 5

/** A model in the thread that runs it. */
export class HostedModel {
  /** Models of sequences, which have a state of their own. */
  private readonly sequences = new Map<string, Module>()

  /** What a model keeps is not to be disposed of: results may be its parameters, and all that it is given may become its state. */
  private readonly isState: (tensor: Tensor) => boolean
  private readonly keepsInputs: boolean

  /** Bytes of inputs up to which runs are short. */
  private shortBytes = 0

  /** null before it is asked for. */
  private keepsState: boolean | null = null
  /** Before the first call. */
  private readonly fresh: ModuleState | null

  private constructor(
    private readonly start: ModelStart,
    readonly module: Module,
    private readonly warn: (text: string) => void,
  ) {
    const parameters = parametersOf(module)
    this.keepsInputs = start.stateful
    this.isState = start.stateful ? () => true : (tensor) => parameters.has(tensor)
    this.fresh = stateOf(module)
  }

  static async load(start: ModelStart, warn: (text: string) => void): Promise<HostedModel> {
    return new HostedModel(start, await open(start, warn), warn)
  }

  /**
   * Runs the calls that it is to be ready for. Gives what the last of them took without rows that are repeated, in milliseconds, what it gave, and the largest batch that it is ready for.
   * `step` is told before each part of that how long it may take.
   */
  async warmUp(step: (milliseconds: number) => void): Promise<{
    readonly milliseconds: number | null
    readonly results: readonly NamedResult[] | null
    readonly rows: number | null
    readonly warning: string | null
  }> {
    let first: { milliseconds: number; results: NamedResult[] } | null = null
    const { warmUp, batchSizes, mayFail, mayLeaveOut, milliseconds: most } = this.start
    let sizes = batchSizes.length > 0 ? [...batchSizes].sort((a, b) => a - b) : [0]
    for (const example of warmUp) {
      first = null
      for (const [i, size] of sizes.entries()) {
        if (mayLeaveOut && first !== null && first.milliseconds * size > most * BATCH_SHARE) {
          sizes = sizes.slice(0, i)
          break
        }
        const inputs = size === 0 ? example : example.map((each) => repeated(each, size))
        try {
          const found = await this.warm(inputs, step)
          if (size > 0) checkRows(found.results, size)
          first ??= found
        } catch (error) {
          // it would go on for as long with every request
          if (!mayFail || failureOf(error).code === 'LIMIT_EXCEEDED') throw error
          return { milliseconds: null, results: null, rows: null, warning: `it was not warmed up: ${failureOf(error).message}` }
        }
      }
    }
    const rows = batchSizes.length > 0 && warmUp.length > 0 ? sizes.at(-1)! : null
    return { milliseconds: first?.milliseconds ?? null, results: first?.results ?? null, rows, warning: null }
  }

  private async warm(
    inputs: readonly SentTensor[],
    step: (milliseconds: number) => void,
  ): Promise<{ milliseconds: number; results: NamedResult[] }> {
    const { method, compile, milliseconds: most } = this.start
    const options = { limits: this.limits(most) }
    let milliseconds = Infinity
    let results: NamedResult[] = []
    const time = async (call: (args: readonly Input[]) => Output | Promise<Output>): Promise<void> => {
      const args = this.argumentsOf([inputs])
      const begin = performance.now()
      const output = await call(args)
      milliseconds = Math.min(milliseconds, performance.now() - begin)
      results = toResults(output, this.isState)
      this.disposeInputs(args)
    }
    // before anything is made for it: a call without end ends here
    step(compile === 'eager' ? COMPILATION * most : most)
    await time((args) => this.module.call(method, args, options))
    if (compile !== 'off') {
      step(COMPILATION * most)
      const args = this.argumentsOf([inputs])
      try {
        await this.module.compile(method, args)
      } finally {
        this.disposeInputs(args)
      }
    }
    milliseconds = Infinity
    step((RUNS + SHORT_CALLS) * most)
    for (let i = 0; i < RUNS; i++) await time((args) => this.module.run(method, args, options))
    // short ones without what it takes to run them on another thread
    if (milliseconds < SHORT) for (let i = 0; i < SHORT_CALLS; i++) await time((args) => this.module.call(method, args, options))
    return { milliseconds, results }
  }

  /** Milliseconds of the shortest of some calls with the inputs that it is warmed up with, on this thread; Infinity where there is none within `most`. */
  async shortestCall(most: number): Promise<number> {
    const example = this.start.warmUp[0]
    if (example === undefined) return Infinity
    const args = this.argumentsOf([example])
    try {
      if (this.start.compile !== 'off') await this.module.compile(this.start.method, args)
    } finally {
      this.disposeInputs(args)
    }
    let shortest = Infinity
    for (let i = 0; i < TRIES; i++) {
      const began = performance.now()
      try {
        this.call([example], most)
        shortest = Math.min(shortest, performance.now() - began)
      } catch {
        // another may be shorter: the first ones run code that is not compiled yet
        if (i > TRIES / 4 && shortest === Infinity) break
      }
    }
    return shortest
  }

  /** Whether a call changes what the next one finds, as those so far have shown: what was begun cannot be begun again. */
  changesState(): boolean {
    this.keepsState ??= this.fresh !== null && !this.fresh.equals(this.module.saveState())
    return this.keepsState
  }

  /** Off this thread, so that the run can be cancelled, unless it is short. */
  async run({ parts, milliseconds, sequence }: RunRequest, signal: AbortSignal): Promise<Ran> {
    const bytes = parts.flat().reduce((sum, each) => sum + (each !== null && 'data' in each ? each.data.byteLength : 0), 0)
    const isShort = sequence === null && bytes <= this.shortBytes && !this.changesState()
    const short = isShort ? this.runHere(parts, milliseconds) : null
    if (short !== null) return short
    const module = sequence === null ? this.module : await this.moduleOf(sequence)
    try {
      const t0 = performance.now()
      const args = this.argumentsOf(parts)
      const t1 = performance.now()
      try {
        const output = await module.run(this.start.method, args, { signal, limits: this.limits(milliseconds) })
        const t2 = performance.now()
        if (t2 - t1 > SHORT_RUN || isShort) this.shortBytes = Math.min(this.shortBytes, bytes - 1)
        else this.shortBytes = Math.max(this.shortBytes, bytes)
        return this.ran(output, [t0, t1, t2])
      } finally {
        // after the results, which may be what the model was given
        this.disposeInputs(args)
      }
    } finally {
      if (sequence?.end === true) this.endSequence(sequence.id)
    }
  }

  /** On this thread, which saves what it takes to run on another; null where that takes longer than was thought. The model has had copies of its inputs then. */
  private runHere(parts: RunRequest['parts'], milliseconds: number | null): Ran | null {
    const t0 = performance.now()
    const args = this.argumentsOf(parts)
    const t1 = performance.now()
    try {
      const output = this.module.call(this.start.method, args, { limits: this.limits(Math.min(milliseconds ?? SHORT, SHORT)) })
      return this.ran(output, [t0, t1, performance.now()])
    } catch (error) {
      const isLong = failureOf(error).code === 'LIMIT_EXCEEDED' && performance.now() - t1 < (milliseconds ?? Infinity)
      if (!isLong) throw error
      return null
    } finally {
      this.disposeInputs(args)
    }
  }

  private ran(output: Output, [t0, t1, t2]: readonly [number, number, number]): Ran {
    const outputs = toResults(output, this.isState)
    return { outputs, durations: { input: ns(t1 - t0), infer: ns(t2 - t1), output: ns(performance.now() - t2) } }
  }

  /** At once, on this thread. */
  call(parts: readonly (readonly SentArgument[])[], milliseconds: number): NamedResult[] {
    const args = this.argumentsOf(parts)
    try {
      return toResults(this.module.call(this.start.method, args, { limits: this.limits(milliseconds) }), this.isState)
    } finally {
      this.disposeInputs(args)
    }
  }

  endSequence(id: string): void {
    this.sequences.get(id)?.dispose()
    this.sequences.delete(id)
  }

  dispose(): void {
    for (const id of [...this.sequences.keys()]) this.endSequence(id)
    this.module.dispose()
  }

  private disposeInputs(args: readonly unknown[]): void {
    if (this.keepsInputs) return
    for (const each of args) if (each instanceof Tensor) each.dispose()
  }

  private limits(milliseconds: number | null): { milliseconds?: number; bytes?: number } {
    const { bytes } = this.start
    if (milliseconds === null) return bytes === null ? {} : { bytes }
    return bytes === null ? { milliseconds } : { milliseconds, bytes }
  }

  private argumentsOf(parts: readonly (readonly SentArgument[])[]): ReturnType<typeof toArgument>[] {
    const kindOf = (i: number): ArgumentKind => this.start.kinds?.[i] ?? 'Tensor'
    if (parts.length === 1) return parts[0]!.map((each, i) => toArgument(each, kindOf(i)))
    return parts[0]!.map((_, i) => toBatch(parts.map((part) => part[i] as SentTensor)))
  }

  private async moduleOf({ id, start }: NonNullable<RunRequest['sequence']>): Promise<Module> {
    if (start) this.endSequence(id)
    let module = this.sequences.get(id)
    if (module === undefined) {
      module = await open(this.start, this.warn)
      this.sequences.set(id, module)
    }
    return module
  }
}

function open({ path, compile, bytes, milliseconds, map, eval: isOut }: ModelStart, warn: (text: string) => void): Promise<Module> {
  const limits = bytes === null ? { milliseconds } : { milliseconds, bytes }
  return loadModule(path, { compile, map, eval: isOut, onWarning: warn, limits })
}

/** null for plans without their model, which have none. */
function stateOf(module: Module): ModuleState | null {
  try {
    return module.saveState()
  } catch {
    return null
  }
}

function parametersOf(module: Module): ReadonlySet<Tensor> {
  try {
    return new Set(module.parameters().values())
  } catch {
    // plans without their model: results of theirs are memory of their own
    return new Set()
  }
}

/** The first row of an example as a batch. */
function repeated(example: SentTensor, rows: number): SentTensor {
  return joinRows(Array<SentTensor>(rows).fill(rowsOf(example, 0, 1)))
}

function checkRows(results: readonly NamedResult[], rows: number): void {
  const wrong = results.find(({ value: { shape } }) => shape[0] !== rows)
  if (wrong !== undefined)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `batching: a batch of ${rows} gives a result of shape [${wrong.value.shape.join(', ')}], which has not a row for each`,
    )
}

function ns(milliseconds: number): number {
  return Math.round(milliseconds * 1e6)
}

export function failureOf(error: unknown): Failure {
  if (error instanceof PtliteError) return { code: error.code, message: error.message }
  return { code: null, message: error instanceof Error ? error.message : String(error) }
}
