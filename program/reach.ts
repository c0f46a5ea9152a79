import { CONTAINER_ELEMENTS, TENSOR_ELEMENTS } from '../runtime/limits.js'
import { pace } from '../runtime/pace.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'

/** Every tensor that can be reached from `roots`. */
export function reachable(roots: Iterable<Value>): Set<Tensor> {
  const tensors = new Set<Tensor>()
  const seen = new Set<object>()
  for (const root of roots) visitTensors(root, (t) => tensors.add(t), seen)
  return tensors
}

/** Elements of everything that can be reached from `roots`, as `Limits` counts them, or more than `most`. */
export function elementsIn(roots: Iterable<Value>, most: number): number {
  const seen = new Set<object>()
  const pending: Value[] = [...roots]
  let count = 0
  while (pending.length > 0 && count <= most) {
    const v = pending.pop()!
    if (typeof v === 'string') count += v.length
    else if (v instanceof Tensor) count += seen.has(v) ? 1 : TENSOR_ELEMENTS + 2 * v.dim
    if (typeof v !== 'object' || v === null || seen.has(v)) continue
    // a set has room for no more
    if (seen.size >= MAX_SEEN) return Infinity
    seen.add(v)
    const items = elementsOf(v)
    if (items === null) continue
    count += CONTAINER_ELEMENTS + items.length
    pace(CONTAINER_ELEMENTS + items.length)
    for (const item of items) if (typeof item === 'object' || typeof item === 'string') pending.push(item)
  }
  return count
}

const MAX_SEEN = 2 ** 24 - 1

/** Whether a tensor among the values, or inside of them, passes the test. Lists of numbers cost next to nothing. */
export function someTensor(values: readonly Value[], test: (tensor: Tensor) => boolean): boolean {
  for (const value of values) {
    if (value instanceof Tensor) {
      if (test(value)) return true
    } else if (typeof value === 'object' && value !== null && !(Array.isArray(value) && value.every((item) => typeof item !== 'object'))) {
      for (const t of reachable([value])) if (test(t)) return true
    }
  }
  return false
}

/** Calls `visit` for each tensor in `value`, at any depth, but for what is in containers that were `seen`. Cycles are fine. */
export function visitTensors(value: Value, visit: (tensor: Tensor) => void, seen = new Set<object>()): void {
  const pending: Value[] = [value]
  while (pending.length > 0) {
    const v = pending.pop()!
    if (v instanceof Tensor) visit(v)
    else if (typeof v === 'object' && v !== null && !seen.has(v)) {
      seen.add(v)
      const items = elementsOf(v) ?? []
      pace(CONTAINER_ELEMENTS + items.length)
      for (const item of items) if (typeof item === 'object') pending.push(item)
    }
  }
}

/** What a container or an object holds; null for other values, tensors among them. */
export function elementsOf(value: Value): readonly Value[] | null {
  if (typeof value !== 'object' || value instanceof Tensor) return null
  if (Array.isArray(value)) return value
  if (value instanceof Tuple) return value.items
  if (value instanceof ScriptObject) return value.slots
  if (value instanceof Map) return [...value].flat()
  return value instanceof CustomObject ? [value.state] : null
}
