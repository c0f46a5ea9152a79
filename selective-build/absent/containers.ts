import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { Run } from '../../interpreter/run-state.js'
import { ArgumentUse } from '../../program/linked.js'

/** Values hold no others: of tensors alone, counts say all. */
export class Lifetimes {
  pin(value: Value): void {
    if (value instanceof Tensor) value.pinned = true
  }
}

export function retain(value: Value): void {
  if (value instanceof Tensor) value.uses++
}

export function drop(value: Value): void {
  if (value instanceof Tensor && !value.pinned && --value.uses <= 0) value.release()
}

export function finishRun(_: Run, result: Value): void {
  if (result instanceof Tensor) result.storage.watch()
}

export { leafValue as valueOfContainer, outputOfLeaf as outputOfContainer } from '../../src/values/convert-leaf.js'

export function useOf(): ArgumentUse {
  return ArgumentUse.read
}

const never = (): boolean => false
export { never as isContainer, never as isCrowded }

const nothing = (): void => undefined
export { nothing as pinStored, nothing as pinArguments, nothing as retainResult, nothing as collect, nothing as crowd }
