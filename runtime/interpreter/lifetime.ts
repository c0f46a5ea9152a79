import { HOLDS_CONTAINERS } from '../held.js'
import { Tensor } from '../tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../tensor/value.js'

/**
 * When memory goes back. Registers and stack slots count the tensors they hold (`uses`); the last holder to go
 * releases the tensor. A list or tuple that has only been on the stack owns its elements in the same way. Once it
 * is stored anywhere, its tensors are pinned: no longer counted, and looked at when the run ends or when they
 * hold too much memory, by marking what can still be reached.
 */
export class Lifetimes {
  /** Tensors of this run that were pinned. */
  pinned: Tensor[] = []
  /** Bytes that may be pinned before `sweep` is worth while. */
  private left = COLLECT_BYTES

  get crowded(): boolean {
    return this.left < 0
  }

  /** Stops counting every tensor in `value`. Stops at tensors that are pinned, not at containers: they may be cyclic. */
  pin(value: Value): void {
    if (value instanceof Tensor) this.pinTensor(value)
    else if (typeof value === 'object' && value !== null) visitTensors(value, (t) => this.pinTensor(t))
  }

  private pinTensor(tensor: Tensor): void {
    if (tensor.pinned) return
    tensor.pinned = true
    this.pinned.push(tensor)
    this.left -= tensor.storage.byteLength
  }

  /** Releases the pinned tensors of this run that `roots` does not reach; the others stay pinned. */
  sweep(roots: Iterable<Value>): void {
    const reached = reachable(roots)
    let bytes = 0
    this.pinned = this.pinned.filter((tensor) => {
      if (reached.has(tensor)) bytes += tensor.storage.byteLength
      else tensor.release()
      return reached.has(tensor)
    })
    this.left = Math.max(COLLECT_BYTES - bytes, bytes)
  }
}

const COLLECT_BYTES = 256 * 1024 * 1024

/** One more holder. Only tensors count; lists on the stack carry their elements' counts. */
export function retain(value: Value): void {
  if (value instanceof Tensor) value.uses++
  else if (!HOLDS_CONTAINERS) return
  else if (Array.isArray(value)) for (const item of value) retain(item)
  else if (value instanceof Tuple) for (const item of value.items) retain(item)
}

/** One holder less. Releases a tensor that nobody holds. */
export function drop(value: Value): void {
  if (value instanceof Tensor) {
    if (!value.pinned && --value.uses <= 0) value.release()
  } else if (!HOLDS_CONTAINERS) {
    return
  } else if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') drop(item)
  } else if (value instanceof Tuple) {
    for (const item of value.items) drop(item)
  }
}

/** Every tensor that can be reached from `roots`. */
export function reachable(roots: Iterable<Value>): Set<Tensor> {
  const tensors = new Set<Tensor>()
  const seen = new Set<object>()
  for (const root of roots) visitTensors(root, (t) => tensors.add(t), seen)
  return tensors
}

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
      for (const item of elementsOf(v) ?? []) if (typeof item === 'object') pending.push(item)
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
