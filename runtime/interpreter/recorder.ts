import type { Stack } from '../tensor/stack.js'
import type { ScriptObject, Value } from '../tensor/value.js'
import type { LinkedFunction, LinkedOperator } from './program.js'

/** What a run reports to whoever records it. The interpreter pays one comparison per instruction concerned when nobody does. */
export interface RunRecorder {
  /**
   * Stands in for `op.call(stack)`: its `argc` arguments are in `args` and on the stack from `base` on; the results have
   * to lie there afterwards.
   */
  operator(op: LinkedOperator, args: readonly Value[], argc: number, stack: Stack, base: number, fn: LinkedFunction, pc: number): void
  attributeRead(object: ScriptObject, slot: number): void
  attributeWritten(object: ScriptObject, slot: number, fn: LinkedFunction, pc: number): void
  /** An instance of a class of the model was made by the run. */
  objectCreated(object: Value): void
  /** Something happened that a replay would not repeat. */
  refuse(reason: string, fn: LinkedFunction, pc: number): void
}
