import { PtliteError } from '../error.js'
import { HOLDS_CONTAINERS } from '../held.js'
import { enterScope, type Scope } from '../tensor/scope.js'
import { newStack } from '../tensor/stack.js'
import { Tensor } from '../tensor/tensor.js'
import type { Value } from '../tensor/value.js'
import { execute } from './execute.js'
import { drop, Lifetimes, reachable } from './lifetime.js'
import type { Profiler } from './profile.js'
import type { RunRecorder } from './recorder.js'
import type { LinkedFunction, Program, Run } from './program.js'

export interface RunOptions {
  readonly profiler?: Profiler | null
  readonly recorder?: RunRecorder | null
  /** Loop iterations and backward jumps after which the run is given up; unlimited by default. */
  readonly maxIterations?: number
}

/** Programs without containers have nothing that outlives its last holder but their results. */
const NOTHING_PINNED = null as unknown as Lifetimes

/**
 * Runs `fn` on `args` (`self` first) and returns its result. When it returns, the memory of every tensor made
 * on the way has been given back, but for the result, attributes that were set, and what was put into arguments.
 */
export function runFunction(fn: LinkedFunction, args: readonly Value[], program: Program, options: RunOptions = {}): Value {
  const lifetimes = HOLDS_CONTAINERS ? new Lifetimes() : NOTHING_PINNED
  const scope: Scope = { created: [] }
  const run: Run = {
    program,
    lifetimes,
    scope,
    frames: [],
    roots: [program.root ?? null, ...args],
    held: [],
    profiler: options.profiler ?? null,
    recorder: options.recorder ?? null,
    budget: options.maxIterations ?? Infinity,
    trace: [],
  }
  const stack = newStack()
  for (const arg of args) {
    // a tensor from outside is the caller's: it is never counted
    if (arg instanceof Tensor && !arg.pinned) arg.pinned = true
    stack.values[stack.top++] = arg
  }
  const before = enterScope(scope)
  let result: Value = null
  try {
    execute(fn, stack, run)
    result = stack.top > 0 ? stack.values[stack.top - 1]! : null
    if (HOLDS_CONTAINERS) lifetimes.pin(result)
    else if (result instanceof Tensor) result.pinned = true
    return result
  } catch (error) {
    for (const registers of run.frames) for (const v of registers) drop(v)
    for (const v of run.held) if (v !== undefined) drop(v)
    for (const t of scope.created) t.release()
    throw withTrace(error, run)
  } finally {
    enterScope(before)
    finish(run, result, args)
  }
}

/** Leaves results to the caller and what was put into arguments to the garbage collector, and notes what attributes hold. */
function finish({ program, lifetimes, roots }: Run, result: Value, args: readonly Value[]): void {
  if (!HOLDS_CONTAINERS) {
    if (result instanceof Tensor) result.storage.watch()
    return
  }
  const outputs = reachable([result])
  for (const t of outputs) t.storage.watch()
  if (lifetimes.pinned.length === 0) return
  lifetimes.sweep([result, ...roots])
  const { root } = program
  const inArguments = reachable(args.filter((v) => v !== root))
  const stored = lifetimes.pinned.filter((t) => {
    if (inArguments.has(t)) t.storage.watch()
    return !inArguments.has(t) && !outputs.has(t)
  })
  if (root === undefined || program.stored.length + stored.length === 0) return
  // those of attributes that were overwritten go
  const reached = reachable([root])
  program.stored = [...new Set([...program.stored, ...stored])].filter((t) => {
    if (!reached.has(t) && !outputs.has(t) && !t.storage.isWatched) t.release()
    return reached.has(t)
  })
}

/** The error as a PtliteError whose message ends with where in the model it happened. */
function withTrace(cause: unknown, { program, trace }: Run): PtliteError {
  const places = trace
    .map(({ fn, pc }) => (program.root === undefined ? undefined : program.placeText(fn, pc)) ?? `  ${fn.source.name}, instruction ${pc}`)
    .reverse()
  const { name, message } = cause instanceof Error ? cause : { name: 'Error', message: String(cause) }
  const [code, text] = cause instanceof PtliteError ? ([cause.code, message] as const) : (['INTERNAL', `${name}: ${message}`] as const)
  return new PtliteError(code, `${text}\nTraceback of TorchScript (most recent call last):\n${places.join('\n')}`, { cause })
}
