import { CustomObject, ScriptObject, type Stack, type Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { retain } from './lifetime.js'
import type { Run } from './run-state.js'
import * as features from '../runtime/features.js'

/** What the loop does for values that hold others. */

/** A value that a register holds from now on. */
export function pinStored(value: Value, run: Run): void {
  if (features.containers && typeof value === 'object' && value !== null && !(value instanceof Tensor || value instanceof ScriptObject))
    run.lifetimes.pin(value)
}

/** A result of an operator that is no tensor. */
export function retainResult(value: Value, argc: number, run: Run): void {
  if (!features.containers || typeof value !== 'object' || value === null) return
  if (value instanceof CustomObject || value instanceof ScriptObject || value instanceof Map) {
    pinArguments(argc, run)
    for (const t of run.scope.created) run.lifetimes.pin(t)
    run.lifetimes.pin(value)
  } else retain(value, run.lifetimes)
}

/** Pins containers among the arguments, and tensors that could end up inside one of them. */
export function pinArguments(argc: number, run: Run): void {
  for (let i = 0; i < argc; i++) run.lifetimes.pin(run.held[i]!)
}

/** So much memory is pinned that it is time to look what of it can still be reached. */
export function isCrowded(run: Run): boolean {
  return run.lifetimes.crowded
}

export function crowd(run: Run): void {
  run.lifetimes.crowd()
}

export function collect(stack: Stack, run: Run): void {
  run.lifetimes.sweep([...stack.values.slice(0, stack.top), ...run.frames.flat(), ...run.roots])
}
