import { cpu } from '../runtime/native/cpu.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Call } from './call.js'
import type { Entry } from './entry.js'
import type { Plan } from './executor/plan.js'
import type { Origin } from './graph/graph.js'
import type { Guards } from './record/guards.js'

/** The state of a method for one input signature. */
export interface PlanInfo {
  /** The method that was called. */
  readonly method: string
  /** Shapes and dtypes of tensors, values of everything else. */
  readonly signature: string
  /**
   * Of a part of a method the place in the model where it begins, null for the method's start, and why it ends, null where the method
   * returns; the interpreter goes on in between. Methods that change the module or their arguments, or draw random numbers, are such a part
   * too. Null for all others.
   */
  readonly region: { readonly from: string | null; readonly until: string | null } | null
  /** 'recorded': compiled at the next call. 'operators': an optimized graph, run operator by operator. */
  readonly state: 'plan' | 'operators' | 'recorded' | 'interpreted'
  /** Why it is not a plan: what in the model stands against it, and where. Null for plans. */
  readonly reason: string | null
  /** Operator calls recorded, and left after the passes. 0 where nothing was recorded. */
  readonly operators: { readonly recorded: number; readonly optimized: number }
  /** How convolutions and linear layers are computed where there are several ways, and why: one line each. */
  readonly choices: readonly string[]
  /** ISA level of a plan's kernels: the one in use, or that which a `.ptlc` file was compiled for. Null for everything else. */
  readonly level: string | null
  /** Kernel calls of a plan; 0 for everything else. */
  readonly frames: number
  /** Bytes of intermediates of a plan: its arena, the most that is alive at one time, and each in memory of its own. */
  readonly memory: { readonly arenaBytes: number; readonly lowerBound: number; readonly naiveBytes: number } | null
  /**
   * Bytes of weights that were folded or packed for a plan, of a `.ptlc` file of all that it reads, and how many of them other plans of the
   * module use too; null for everything else.
   */
  readonly weights: { readonly bytes: number; readonly shared: number } | null
}

/** A signature of a method, or of a region. */
export type Described = Pick<Entry, 'state' | 'recordedOperators' | 'from'> & { readonly signature: { toString(): string } }

/** The state of a signature; `all` are the plans of the module. */
export function describeEntry(
  method: string,
  { signature, state, recordedOperators, from }: Described,
  all: readonly Call[],
  text: (refusal: { readonly reason: string; readonly origin: Origin | null }) => string,
): PlanInfo {
  const begin = from === null ? null : text({ reason: 'begins', origin: from }).replace(/^begins\n/, '')
  const end = state.kind === 'region' && state.region.end.kind === 'step' ? text(state.region.end) : null
  const info = {
    method,
    signature: signature.toString(),
    region: begin === null && state.kind !== 'region' ? null : { from: begin, until: end },
    operators: { recorded: recordedOperators, optimized: 0 },
    choices: [],
    level: null,
    frames: 0,
    memory: null,
    weights: null,
  }
  if (state.kind === 'refused') return { ...info, state: 'interpreted', reason: state.reason }
  if (state.kind === 'recorded' || state.call === null) return { ...info, state: 'recorded', reason: 'compiled when it is called again' }
  const guards = state.kind === 'region' ? state.region.guards : state.guards
  const { plan, reason, choices, operators: optimized } = state.call
  const operators = { recorded: recordedOperators, optimized }
  if (plan === null) return { ...info, state: 'operators', reason, operators, choices }
  const { frames, arenaBytes, lowerBound, naiveBytes } = plan
  const memory = { arenaBytes, lowerBound, naiveBytes }
  const level = cpu.currentLevel()
  return { ...info, state: 'plan', reason: null, operators, choices, level, frames, memory, weights: weightsOf(plan, guards, all) }
}

/** What was made from the weights that `guards` know. */
function weightsOf(plan: Plan, guards: Guards, all: readonly Call[]): PlanInfo['weights'] {
  // another thread's memory is known by where it is
  const others = new Set(all.flatMap((call) => (call.plan === plan ? [] : storagesOf(call.plan).map((storage) => storage.startAddress))))
  const made = storagesOf(plan).filter((storage) => !guards.hasStorage(storage))
  const bytes = (list: readonly Storage[]): number => list.reduce((sum, storage) => sum + storage.byteLength, 0)
  return { bytes: bytes(made), shared: bytes(made.filter((storage) => others.has(storage.startAddress))) }
}

function storagesOf(plan: Plan | null): Storage[] {
  return plan === null ? [] : plan.captured.constants.map(({ storage }) => storage)
}
