import { ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'

/** What calls can change in a module, in order: values of attributes, entries of lists, tuples and dicts, and the contents of tensors by their version. */
export function stateOf(root: ScriptObject): unknown[] {
  const state: unknown[] = []
  const seen = new Set<Value>()
  const visit = (value: Value): void => {
    state.push(value)
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (value instanceof Tensor) state.push(value.storage.version)
    else if (value instanceof ScriptObject) value.slots.forEach(visit)
    else if (value instanceof Tuple) value.items.forEach(visit)
    else if (Array.isArray(value)) value.forEach(visit)
    else if (value instanceof Map) for (const [key, item] of value) [key, item].forEach(visit)
  }
  visit(root)
  return state
}

/** True where nothing was changed between two states. */
export function sameState(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => Object.is(value, b[i]))
}
