import { pace } from '../runtime/pace.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { Tuple, type Value } from '../runtime/tensor/value.js'
import { elementsOf, reachable } from '../program/reach.js'
import * as features from '../runtime/features.js'

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
  /** Containers that are not counted in others: all of their tensors are pinned. Null as long as there are none. */
  private settled: WeakSet<object> | null = null
  /** Items that may be counted at a time. */
  private countable = 0

  get crowded(): boolean {
    return this.left < 0
  }

  /** Has `sweep` called at the next occasion: there may be many tensors that are small. */
  crowd(): void {
    this.left = -1
  }

  /** Stops counting every tensor in `value`. Stops at tensors that are pinned, not at containers: they may be cyclic. */
  pin(value: Value): void {
    if (value instanceof Tensor) this.pinTensor(value)
    else if (typeof value === 'object' && value !== null) this.pinContents(value, MAX_PINNED_AGAIN)
  }

  /** Settles the containers where they are more than `most`, so that they are not walked through time and again. */
  private pinContents(value: object & Value, most: number): void {
    if (!features.containers) return
    const seen = new Set<object>()
    const pending: Value[] = [value]
    while (pending.length > 0) {
      const v = pending.pop()!
      if (v instanceof Tensor) this.pinTensor(v)
      else if (typeof v === 'object' && v !== null && !seen.has(v) && (v === value || this.settled?.has(v) !== true)) {
        const elements = elementsOf(v)
        if (elements === null) continue
        seen.add(v)
        pace(elements.length)
        for (const item of elements) if (typeof item === 'object') pending.push(item)
      }
    }
    if (seen.size <= most) return
    const settled = (this.settled ??= new WeakSet())
    for (const container of seen) settled.add(container)
  }

  /** One more holder of a list or tuple and of those in it (1), or one less (-1). Where they are too many they are pinned. */
  count(container: object & Value, by: 1 | -1): void {
    if (!features.containers) return
    const items = countedItems(container)
    if (items === null) return
    // not in the middle: what is counted is counted whole
    pace(items.length)
    this.countable = MAX_COUNTED
    if (!this.countItems(items, by, MAX_LEVELS)) this.pinContents(container, 0)
  }

  /** False where there are too many. */
  private countItems(items: readonly Value[], by: 1 | -1, levels: number): boolean {
    if (!features.containers) return true
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!
      if (typeof item !== 'object' || item === null) continue
      if (item instanceof Tensor) {
        if (by > 0) item.uses++
        else dropTensor(item)
        continue
      }
      const inner = countedItems(item)
      if (inner === null || this.settled?.has(item) === true) continue
      this.countable -= inner.length + 1
      if (levels === 0 || this.countable < 0 || !this.countItems(inner, by, levels - 1)) return false
    }
    return true
  }

  /** Containers hold other tensors now than those that were pinned. */
  unsettle(): void {
    this.settled = null
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
/** Containers in one value that are looked at each time it is pinned. */
const MAX_PINNED_AGAIN = 64
/** Lists in lists whose tensors are counted: deeper ones, and those of which there are more items on all ways to them, are pinned. */
const MAX_LEVELS = 32
const MAX_COUNTED = 2 ** 16

/** One more holder. Only tensors count; lists on the stack carry their elements' counts. */
export function retain(value: Value, lifetimes: Lifetimes): void {
  if (value instanceof Tensor) value.uses++
  else if (typeof value === 'object' && value !== null) lifetimes.count(value, 1)
}

/** One holder less. Releases a tensor that nobody holds. */
export function drop(value: Value, lifetimes: Lifetimes): void {
  if (value instanceof Tensor) dropTensor(value)
  else if (typeof value === 'object' && value !== null) lifetimes.count(value, -1)
}

function dropTensor(tensor: Tensor): void {
  if (!tensor.pinned && --tensor.uses <= 0) tensor.release()
}

function countedItems(value: object & Value): readonly Value[] | null {
  return Array.isArray(value) ? value : value instanceof Tuple ? value.items : null
}
