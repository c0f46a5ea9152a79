import type { Budget } from '../runtime/native/budget.js'
import type { Census } from '../runtime/tensor/growth.js'
import type { Scope } from '../runtime/tensor/scope.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { ScriptObject, Value } from '../runtime/tensor/value.js'
import type { Lifetimes } from './lifetime.js'
import type { LinkedFunction } from '../program/linked.js'
import type { Profiler } from './profile.js'
import type { RunRecorder } from './recorder.js'

/** What instructions need of the program that they are of. */
export interface ProgramInstance {
  /** The module; undefined while it is being read. */
  readonly root: ScriptObject | undefined
  /** Tensors that attributes hold because a run stored them there: released when an attribute is overwritten. */
  stored: readonly Tensor[]
  /** Counts writes to attributes, so that what was derived from attributes can be checked. */
  attributeWrites: number
  readonly functions: readonly LinkedFunction[]
  findMethod(className: string, method: string): LinkedFunction | undefined
  createObject(typeName: string): ScriptObject
  warn(text: string): void
  /** The text of TorchScript's stack trace at a place, where the module has debug information. */
  placeText(fn: LinkedFunction, pc: number): string | undefined
}

/** State of one call from outside. */
export interface Run {
  readonly program: ProgramInstance
  readonly lifetimes: Lifetimes
  readonly scope: Scope
  /** Register files of the active functions, outermost first. */
  readonly frames: Value[][]
  /** What the garbage marker starts from besides registers and stack: arguments and the module. */
  readonly roots: readonly Value[]
  /** Arguments of the operator that is running. */
  readonly held: Value[]
  readonly profiler: Profiler | null
  /** Watches the run for a compiler; null almost always. */
  recorder: RunRecorder | null
  /** Loop iterations and backward jumps left before the run is given up. */
  iterations: number
  /** What it may take. */
  readonly budget: Budget
  /** Counts the elements that it has. */
  readonly census: Census
  /** Where an error passed through, innermost first. */
  readonly trace: { readonly fn: LinkedFunction; readonly pc: number }[]
}
