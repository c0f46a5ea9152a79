import type { RunOptions } from '../interpreter/run.js'
import type { LinkedFunction } from '../program/linked.js'
import { PtliteError } from '../runtime/error.js'
import { reachable, visitTensors } from '../program/reach.js'
import type { ScriptModule } from '../interpreter/script-module.js'
import { memoryStats, trimMemory } from '../runtime/native/memory.js'
import { discardPages, dropDerived, type Storage } from '../runtime/tensor/storage.js'
import type { Value } from '../runtime/tensor/value.js'
import type { Call } from './call.js'
import { compileCall } from './compiled-call.js'
import type { Plan } from './executor/plan.js'
import type { Origin } from './graph/graph.js'
import { type SharedConstants, withSharedConstants } from './graph/shared-constants.js'
import type { PassOptions } from './passes/pass.js'
import type { Guards } from './record/guards.js'
import type { Place } from './record/module-parts.js'
import { recorderOf } from './record/recorder.js'
import { Signature } from './record/signature.js'

/** The outcome of a call that was to be compiled on another thread. */
export type Outcome<P> =
  /** The call itself failed or was given up. */
  | { readonly kind: 'failed'; readonly aborted: boolean }
  | { readonly kind: 'refused'; readonly reason: string; readonly origin: Origin | null; readonly temporary: boolean }
  /** There can be no plan, but a graph that is run operator by operator. */
  | { readonly kind: 'operators'; readonly reason: string; readonly recorded: number }
  | { readonly kind: 'plan'; readonly plan: P; readonly recorded: number; readonly operators: number; readonly choices: readonly string[] }

/** A plan as the thread has it that made it. */
export interface MadePlan {
  readonly call: Call
  readonly plan: Pick<Plan, 'captured' | 'placement'>
  readonly guards: Guards
  /** Attributes whose tensors are inputs behind the arguments; null for a plan of arguments alone. */
  readonly state: readonly Place[] | null
  /** Inputs whose contents are put back where a run fails. */
  readonly kept: readonly number[]
}

/** Memory kept by the allocator that is given back to the system once a plan is made. */
const TRIM_BYTES = 8 << 20

/**
 * Interprets a call, and compiles what was recorded of it. The plan belongs to the caller, who holds its constants by that. Throws as
 * the interpreter does.
 */
export function callAndCompile(
  script: ScriptModule,
  fn: LinkedFunction,
  args: readonly Value[],
  run: RunOptions,
  passes: PassOptions,
  constants: SharedConstants,
): { readonly value: Value; readonly outcome: Outcome<MadePlan> } {
  const inputs = Signature.of(args)!.match(args)!
  const recorder = recorderOf(script, script.root, args, inputs)
  const value = script.call(fn, args, { ...run, recorder })
  const found = recorder.finish(value)
  if (!('graph' in found)) return { value, outcome: { kind: 'refused', ...found } }
  const { graph, guards } = found
  if (guards.shareMemory(inputs)) {
    const reason = 'an argument lies in memory of the module'
    return { value, outcome: { kind: 'refused', reason, origin: null, temporary: true } }
  }
  const recorded = graph.nodes.length
  try {
    const { call, result } = withSharedConstants(constants, () => compileCall(graph, inputs, passes))
    const kept = reachable([script.root, value, ...inputs, ...script.functions.flatMap((f) => f.source.constants)])
    visitTensors(result, (t) => {
      if (!kept.has(t)) t.release()
    })
    const { plan, reason, operators, choices } = call
    if (plan !== null)
      return { value, outcome: { kind: 'plan', plan: { call, plan, guards, state: null, kept: call.kept }, recorded, operators, choices } }
    call.dispose()
    return { value, outcome: { kind: 'operators', reason: reason!, recorded } }
  } catch (error) {
    if (!(error instanceof PtliteError) || error.code === 'ABORTED') throw error
    return { value, outcome: { kind: 'refused', reason: `compilation failed: ${error.message}`, origin: null, temporary: false } }
  }
}

/**
 * Weights of a mapped file that no plan reads, as they were folded or packed, need not stay in memory: what the interpreter should
 * still want of them is read from the file again. `used` is what plans read.
 */
export function letGoOfSources(guards: Guards, used: readonly Storage[]): void {
  const kept = new Set(used)
  for (const storage of guards.knownStorages()) {
    if (kept.has(storage)) continue
    dropDerived(storage, kept)
    discardPages(storage)
  }
  // what the passes needed is more than runs do
  if (memoryStats().cached > TRIM_BYTES) trimMemory()
}
