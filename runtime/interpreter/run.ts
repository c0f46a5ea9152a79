import { PtliteError } from '../error.js'
import { enterScope, type Scope } from '../tensor/scope.js'
import { newStack } from '../tensor/stack.js'
import { Tensor } from '../tensor/tensor.js'
import type { ScriptObject, Value } from '../tensor/value.js'
import { execute } from './execute.js'
import { drop, Lifetimes, reachable, visitTensors } from './lifetime.js'
import type { Profiler } from './profile.js'
import type { RunRecorder } from './recorder.js'
import type { LinkedFunction, Program, Run } from './program.js'

export interface RunOptions {
  readonly profiler?: Profiler | null
  readonly recorder?: RunRecorder | null
  /** Loop iterations and backward jumps after which the run is given up; unlimited by default. */
  readonly maxIterations?: number
  /** The text of TorchScript's stack trace at a place, where the module has debug information. */
  readonly describe?: (fn: LinkedFunction, pc: number) => string | undefined
}

/** Tensors that attributes hold because a run stored them there, released when an attribute is overwritten. */
export class AttributeTensors {
  private held: Tensor[] = []

  adopt(tensors: readonly Tensor[], root: ScriptObject, outputs: ReadonlySet<Tensor>): void {
    if (tensors.length === 0 && this.held.length === 0) return
    const reached = reachable([root])
    const kept: Tensor[] = []
    for (const t of new Set([...this.held, ...tensors])) {
      if (reached.has(t)) kept.push(t)
      else if (!outputs.has(t) && !t.storage.isWatched) t.release()
    }
    this.held = kept
  }
}

/**
 * Runs `fn` on `args` (`self` first) and returns its result. When it returns, the memory of every tensor made
 * on the way has been given back, but for the result, attributes that were set, and what was put into arguments.
 */
export function runFunction(
  fn: LinkedFunction,
  args: readonly Value[],
  program: Program,
  root: ScriptObject,
  attributes: AttributeTensors,
  options: RunOptions = {},
): Value {
  const lifetimes = new Lifetimes()
  const scope: Scope = { created: [] }
  const run: Run = {
    program,
    lifetimes,
    scope,
    frames: [],
    roots: [root, ...args],
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
    lifetimes.pin(result)
    return result
  } catch (error) {
    for (const registers of run.frames) for (const v of registers) drop(v)
    for (const v of run.held) if (v !== undefined) drop(v)
    for (const t of scope.created) t.release()
    throw withTrace(error, run, options)
  } finally {
    enterScope(before)
    finish(run, result, args, root, attributes)
  }
}

function finish(run: Run, result: Value, args: readonly Value[], root: ScriptObject, attributes: AttributeTensors): void {
  const outputs = new Set<Tensor>()
  visitTensors(result, new Set(), (t) => outputs.add(t))
  for (const t of outputs) t.storage.watch()
  if (!run.lifetimes.anyPinned) return
  run.lifetimes.sweep([result, ...run.roots])
  const inArguments = reachable(args.filter((v) => v !== root))
  const stored: Tensor[] = []
  for (const t of run.lifetimes.survivors()) {
    if (inArguments.has(t)) t.storage.watch()
    else if (!outputs.has(t)) stored.push(t)
  }
  attributes.adopt(stored, root, outputs)
}

/** The error as a PtliteError whose message ends with where in the model it happened. */
function withTrace(error: unknown, run: Run, options: RunOptions): PtliteError {
  const places = run.trace.map(({ fn, pc }) => options.describe?.(fn, pc) ?? `  ${fn.source.name}, instruction ${pc}`).reverse()
  const [code, message] =
    error instanceof PtliteError
      ? ([error.code, error.message] as const)
      : (['INTERNAL', error instanceof Error ? `${error.name}: ${error.message}` : String(error)] as const)
  return new PtliteError(code, `${message}\nTraceback of TorchScript (most recent call last):\n${places.join('\n')}`, { cause: error })
}
