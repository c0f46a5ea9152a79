import type { Call } from './call.js'
import type { CompiledCall } from './compiled-call.js'
import type { Origin } from './graph/graph.js'
import type { Guards } from './record/guards.js'
import type { Recording } from './record/recorder.js'
import type { RegionRecording } from './record/region.js'
import type { Signature } from './record/signature.js'
import type { StateCall } from './regions/state-call.js'
import type { Kept } from './signature-list.js'

/** Times that a signature is recorded anew, because of caches being filled or attributes being set, before it is left to the interpreter. */
export const MAX_ATTEMPTS = 3

/** The state of one signature. */
export type EntryState =
  | { readonly kind: 'recorded'; readonly recording: Recording }
  | { readonly kind: 'compiled'; readonly call: Call; readonly guards: Guards }
  /** A part of a method, or one that changes the module; `call` is null until it is compiled. */
  | { readonly kind: 'region'; readonly region: RegionRecording; readonly call: CompiledCall | null }
  | { readonly kind: 'refused'; readonly reason: string }

/** A signature of a method, or of the states from which a region of one begins; `Regions`: what a method is divided into. */
export class Entry<S extends { toString(): string } = Signature, Regions extends { dispose(): void } = never> implements Kept {
  state: EntryState = { kind: 'refused', reason: 'not recorded' }
  recordedOperators = 0
  attempts = 0
  /** Another thread has found that its run cannot be captured. */
  withoutPlan = false
  replays = 0
  /** Calls of the form that differed in ints alone. */
  otherInts = 0
  cost = 0
  /** Where a region begins; null for the start of the method. */
  from: Origin | null = null
  /** Null where calls are replayed or interpreted as a whole. */
  regions: Regions | null = null
  /** What `Module.run` replays in place of regions: the plan that the background thread has made of a method with state. */
  aside: StateCall | null = null
  /** Such plans that were received. */
  received = 0

  constructor(
    readonly signature: S,
    readonly hash: number,
  ) {}

  /** Gives back its plan. */
  release(): void {
    const { state } = this
    if (state.kind === 'compiled' || state.kind === 'region') state.call?.dispose()
  }

  dispose(): void {
    this.release()
    this.aside?.call.dispose()
    this.regions?.dispose()
  }
}
