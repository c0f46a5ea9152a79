import { PtliteError, shortened, sizeError } from '../runtime/error.js'
import { TENSOR_ELEMENTS } from '../runtime/limits.js'
import { currentBudget } from '../runtime/native/budget.js'
import { enterPace } from '../runtime/pace.js'
import { enterElementBudget } from '../runtime/tensor/element-budget.js'
import { enterScope } from '../runtime/tensor/scope.js'
import { newStack, type Stack, type Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { execute } from './execute.js'
import { drop, Lifetimes } from './lifetime.js'
import { elementsIn } from '../program/reach.js'
import type { Profiler } from './profile.js'
import type { RunRecorder } from './run-state.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ProgramInstance, Run } from './run-state.js'
import { crowd } from './container-lifetimes.js'
import { finishRun } from './finish-run.js'

/** Calls in calls that a traceback shows. */
const MAX_PLACES = 20

export interface RunOptions {
  readonly profiler?: Profiler | null
  readonly recorder?: RunRecorder | null
  /** Loop iterations and backward jumps after which the run is given up; unlimited by default. */
  readonly maxIterations?: number
}

/**
 * Runs `fn` on `args` (`self` first) and returns its result. When it returns, the memory of every tensor made
 * on the way has been given back, but for the result, attributes that were set, and what was put into arguments.
 */
export function runFunction(fn: LinkedFunction, args: readonly Value[], program: ProgramInstance, options: RunOptions = {}): Value {
  const stack = newStack()
  const run = beginRun(args, program, stack, options)
  const before = enterScope(run.scope)
  const outer = enterElementBudget(run.elementBudget)
  let result: Value = null
  try {
    execute(fn, stack, run)
    result = takeResult(stack, run)
    return result
  } catch (error) {
    throw abandonRun(error, run, stack)
  } finally {
    enterScope(before)
    enterElementBudget(outer)
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
    lifetimes: new Lifetimes(),
    scope: { created: [] },
    frames: [],
    roots: [program.root ?? null, ...args],
    held: [],
    profiler: options.profiler ?? null,
    recorder: options.recorder ?? null,
    iterations: options.maxIterations ?? Infinity,
    budget,
    elementBudget: { room: budget.elements, limit: budget.elements, who: budget.who, count: (most) => countElements(run, stack, most) },
    trace: [],
  }
  return run
}

/** What is alive of lists and their kind. In the middle of an operator: what it makes itself is counted by whoever makes it. */
function countElements(run: Run, stack: Stack, most: number): number {
  const { frames, roots, held, scope } = run
  // tensors that a container held, and that are too small to be looked for otherwise
  crowd(run)
  return (
    elementsIn([...stack.values.slice(0, stack.top), ...frames.flat(), ...roots, ...held], most) + TENSOR_ELEMENTS * scope.created.length
  )
}

/** The result of a run that has returned. */
export function takeResult(stack: Stack, run: Run): Value {
  const result = stack.top > 0 ? stack.values[stack.top - 1]! : null
  run.lifetimes.pin(result)
  return result
}

/** Gives back what a run held when it failed. Returns the error with where in the model it happened. */
export function abandonRun(cause: unknown, run: Run, stack: Stack): PtliteError {
  const error = sizeError(cause)
  const pace = enterPace(null)
  try {
    for (const registers of run.frames) for (const v of registers) drop(v, run.lifetimes)
    for (const v of run.held) if (v !== undefined) drop(v, run.lifetimes)
    // the arguments from outside, which are the caller's, lie there until the method has begun
    if (run.frames.length > 0) for (const v of stack.values.slice(0, stack.top)) drop(v!, run.lifetimes)
    for (const t of run.scope.created) t.release()
    return withTrace(error, run)
  } finally {
    enterPace(pace)
  }
}

/** The error as a PtliteError whose message ends with where in the model it happened. */
function withTrace(cause: unknown, { program, trace }: Run): PtliteError {
  const shown = trace.length <= MAX_PLACES ? trace : [...trace.slice(0, MAX_PLACES / 2), ...trace.slice(-MAX_PLACES / 2)]
  const places = shown
    .map(({ fn, pc }) => (program.root === undefined ? undefined : program.placeText(fn, pc)) ?? `  ${fn.source.name}, instruction ${pc}`)
    .map((text) => shortened(text))
    .reverse()
  if (shown !== trace) places.splice(MAX_PLACES / 2, 0, `  … ${trace.length - MAX_PLACES} calls more`)
  const { name, message } = cause instanceof Error ? cause : { name: 'Error', message: String(cause) }
  const [code, text] = cause instanceof PtliteError ? ([cause.code, message] as const) : (['INTERNAL', `${name}: ${message}`] as const)
  return new PtliteError(code, `${text}\nTraceback of TorchScript (most recent call last):\n${places.join('\n')}`, { cause })
}
