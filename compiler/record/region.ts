import type { LinkedFunction } from '../../program/linked.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Graph, Origin } from '../graph/graph.js'
import type { Guards } from './guards.js'
import type { Place } from './module-parts.js'
import type { Recording, Refusal } from './recorder.js'
import type { PrologueStep } from './region-prologue.js'
import type { StateSignature } from './state-signature.js'
import type { ContainerTemplate, Template } from './template.js'

/** A function that is being run where a region ends: those of its registers that hold something. */
export interface Stand {
  readonly fn: LinkedFunction
  /** As in a `Frame`. */
  readonly pc: number
  readonly registers: readonly (readonly [register: number, value: Template])[]
}

export type RegionEnd =
  /** The method returns. */
  | { readonly kind: 'return'; readonly value: Template }
  /** An operator that the interpreter calls, with its arguments on the stack. */
  | {
      readonly kind: 'step'
      /** Why the operator is in no region, and where it is in the model. */
      readonly reason: string
      readonly origin: Origin | null
      /** Outermost first. */
      readonly stands: readonly Stand[]
      readonly stack: readonly Template[]
    }

/** What was recorded of a run from one state to another. */
export interface RegionRecording {
  /** Returns a list of tensors. */
  readonly graph: Graph
  readonly guards: Guards
  /** Of registers and stack, and of the attributes in `reads`. */
  readonly start: StateSignature
  readonly reads: readonly Place[]
  /** What is computed of varying numbers before the graph is run. */
  readonly prologue: readonly PrologueStep[]
  /** Which tensors of the start, and of those that the prologue makes behind them, are inputs of the graph. */
  readonly picks: readonly number[]
  /** For each tensor of the start the memory of a constant that it lies in; null for those that lie in none. */
  readonly inConstants: readonly (Storage | null)[]
  /** Attributes that are set. */
  readonly writes: readonly { readonly place: Place; readonly value: Template; readonly origin: Origin }[]
  /** Lists and dicts of the start that are changed. */
  readonly changes: readonly { readonly container: number; readonly to: ContainerTemplate }[]
  readonly end: RegionEnd
}

export function isRegion(found: Recording | RegionRecording | Refusal): found is RegionRecording {
  return 'start' in found
}
