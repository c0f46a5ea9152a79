import { elementsOf } from '../program/reach.js'
import { CustomObject, type ScriptObject, type Value } from '../runtime/tensor/value.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'

/**
 * What calls and callers can change in a module, in order: values of attributes, entries of lists, tuples and dicts, the contents of tensors by their version, and
 * whether somebody has disposed of them. What is in the memory of `free` may be anything.
 */
export function stateOf(root: ScriptObject, free: ReadonlySet<Storage> = new Set()): unknown[] {
  const state: unknown[] = []
  const seen = new Set<Value>()
  // breadth first: no depth is too great
  const pending: (readonly Value[])[] = [[root]]
  for (let i = 0; i < pending.length; i++) {
    for (const value of pending[i]!) {
      state.push(value)
      if (typeof value !== 'object' || value === null || seen.has(value)) continue
      seen.add(value)
      if (value instanceof Tensor) {
        const { storage, offset, shape, strides } = value
        state.push(storage, free.has(storage) ? 0 : storage.version, storage.live, offset, ...shape, ...strides)
      }
      // the state of an object of a C++ class stays what it is
      else if (!(value instanceof CustomObject)) pending.push(elementsOf(value) ?? [])
    }
    pending[i] = []
  }
  return state
}

/** True where nothing was changed between two states. */
export function sameState(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => Object.is(value, b[i]))
}
