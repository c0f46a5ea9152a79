import type { Budget } from '../runtime/native/budget.js'
import type { ElementBudget } from '../runtime/tensor/element-budget.js'
import type { Scope } from '../runtime/tensor/scope.js'
import type { ScriptObject, Stack, Value } from '../runtime/tensor/value.js'
import type { Lifetimes } from './lifetime.js'
import type { LinkedFunction, LinkedOperator } from '../program/linked.js'
import type { Profiler } from './profile.js'

/** What instructions need of the program that they are of. */
export interface ProgramInstance {
  /** The module; undefined while it is being read. */
  readonly root: ScriptObject | undefined
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
  readonly elementBudget: ElementBudget
  /** Where an error passed through, innermost first. */
  readonly trace: { readonly fn: LinkedFunction; readonly pc: number }[]
}

/** Thrown where a recorder leaves a run; the trace and the frames of the run say where it stands. */
export const LEFT = /* @__PURE__ */ new Error('the run was left')

/** A call of an operator that the run stands before. */
export interface OperatorCall {
  readonly op: LinkedOperator
  /** The first `argc` are the arguments, with their defaults. */
  readonly args: readonly Value[]
  readonly argc: number
  readonly stack: Stack
  /** Where the arguments begin on the stack, and later the results. */
  readonly base: number
  readonly fn: LinkedFunction
  readonly pc: number
  readonly run: Run
}

/** What a run reports to whoever records it. The interpreter pays one comparison per instruction concerned when nobody does. */
export interface RunRecorder {
  /** True where the run is to be left before this call of an operator, so that it can go on later (`Activation`). */
  leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean
  /** Stands in for `op.call(stack)`, which leaves the results in the place of the arguments. */
  operator(call: OperatorCall): void
  /** An instruction other than an operator call looks at the topmost `count` values of the stack. */
  settles(stack: Stack, count: number): void
  /** The instruction at `pc` tells whether two values are the same object. */
  compares(a: Value, b: Value, fn: LinkedFunction, pc: number): void
  /** The instruction at `pc` calls a function of the model. */
  called(fn: LinkedFunction, pc: number): void
  /** That function has returned. */
  returned(): void
  /** An attribute is about to be read. */
  attributeRead(object: ScriptObject, slot: number): void
  /** An attribute is about to get another value. */
  attributeWritten(object: ScriptObject, slot: number, fn: LinkedFunction, pc: number): void
  /** An instance of a class of the model was made by the run. */
  objectCreated(object: Value): void
  /** Something happened that a replay would not repeat. */
  refuse(reason: string, fn: LinkedFunction, pc: number): void
}
