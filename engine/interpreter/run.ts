import { PtliteError, sizeError } from '../../runtime/error.js'
import { HOLDS_CONTAINERS, HOLDS_OBSERVERS } from '../../runtime/held.js'
import { TENSOR_ELEMENTS } from '../../runtime/limits.js'
import { currentBudget } from '../../runtime/native/budget.js'
import { enterCensus } from '../../runtime/tensor/growth.js'
import { enterScope } from '../../runtime/tensor/scope.js'
import { newStack, type Stack } from '../../runtime/tensor/stack.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { execute } from './execute.js'
import { drop, Lifetimes } from './lifetime.js'
import { elementsIn, reachable } from '../../program/reach.js'
import type { Profiler } from './profile.js'
import type { RunRecorder } from './recorder.js'
import type { LinkedFunction } from '../../program/linked.js'
import type { ProgramInstance, Run } from './run-state.js'

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
export function runFunction(fn: LinkedFunction, args: readonly Value[], program: ProgramInstance, options: RunOptions = {}): Value {
  const stack = newStack()
  const run = beginRun(args, program, stack, options)
  const before = enterScope(run.scope)
  const outer = enterCensus(run.census)
  let result: Value = null
  try {
    execute(fn, stack, run)
    result = takeResult(stack, run)
    return result
  } catch (error) {
    throw abandonRun(error, run)
  } finally {
    enterScope(before)
    enterCensus(outer)
    finishRun(run, result, args)
  }
}

/** The state of a call from outside, whose arguments, `self` first, are put on the stack. */
export function beginRun(args: readonly Value[], program: ProgramInstance, stack: Stack, options: RunOptions): Run {
  for (const arg of args) {
    // a tensor from outside is the caller's: it is never counted
    if (arg instanceof Tensor && !arg.pinned) arg.pinned = true
    stack.values[stack.top++] = arg
  }
  const budget = currentBudget()
  const run: Run = {
    program,
    lifetimes: HOLDS_CONTAINERS ? new Lifetimes() : NOTHING_PINNED,
    scope: { created: [] },
    frames: [],
    roots: [program.root ?? null, ...args],
    held: [],
    profiler: HOLDS_OBSERVERS ? (options.profiler ?? null) : null,
    recorder: HOLDS_OBSERVERS ? (options.recorder ?? null) : null,
    iterations: options.maxIterations ?? Infinity,
    budget,
    census: { room: budget.elements, limit: budget.elements, who: budget.who, count: (most) => countElements(run, stack, most) },
    trace: [],
  }
  return run
}

/** What is alive of lists and their kind. In the middle of an operator: what it makes itself is counted by whoever makes it. */
function countElements({ lifetimes, frames, roots, held, scope }: Run, stack: Stack, most: number): number {
  // tensors that a container held, and that are too small to be looked for otherwise
  if (HOLDS_CONTAINERS) lifetimes.crowd()
  return (
    elementsIn([...stack.values.slice(0, stack.top), ...frames.flat(), ...roots, ...held], most) + TENSOR_ELEMENTS * scope.created.length
  )
}

/** The result of a run that has returned. */
export function takeResult(stack: Stack, run: Run): Value {
  const result = stack.top > 0 ? stack.values[stack.top - 1]! : null
  if (HOLDS_CONTAINERS) run.lifetimes.pin(result)
  else if (result instanceof Tensor) result.pinned = true
  return result
}

/** Gives back what a run held when it failed. Returns the error with where in the model it happened. */
export function abandonRun(cause: unknown, run: Run): PtliteError {
  const error = sizeError(cause)
  for (const registers of run.frames) for (const v of registers) drop(v, run.lifetimes)
  for (const v of run.held) if (v !== undefined) drop(v, run.lifetimes)
  for (const t of run.scope.created) t.release()
  return withTrace(error, run)
}

/** Leaves results to the caller and what was put into arguments to the garbage collector, and notes what attributes hold. */
export function finishRun({ program, lifetimes, roots }: Run, result: Value, args: readonly Value[]): void {
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
    // its lists may be those of an argument
    Tensor.expose(t)
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
