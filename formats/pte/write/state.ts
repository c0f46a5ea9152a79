import type { ModuleParts } from '../../../compiler/record/module-parts.js'
import { elementsOf, reachable } from '../../../program/reach.js'
import { itemSize } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import type { Storage } from '../../../runtime/tensor/storage.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../../../runtime/tensor/value.js'
import { bytesOf } from '../../writing/program-writer.js'

/** Buffers begin at multiples of this. */
const ALIGNMENT = 16

/** An attribute. */
export interface StateSlot {
  readonly object: ScriptObject
  readonly slot: number
}

/** What outlives calls: a tensor or a number, which an attribute holds, or a list, tuple or dict in one. */
export interface StateValue {
  /** The path of the attribute, and of its place in a container: `cell.rows`, `caches.0`. */
  readonly name: string
  /** What it begins with. A number is a tensor of one element. */
  readonly first: Tensor
  /** In a memory that all methods have in common, in bytes. */
  readonly offset: number
}

/** What a module holds, to be put back after calls that change it, and what of it calls change. */
export class InitialState {
  private readonly slots = new Map<ScriptObject, readonly Value[]>()
  private readonly lists = new Map<Value[], readonly Value[]>()
  private readonly dicts = new Map<Map<unknown, Value>, readonly (readonly [unknown, Value])[]>()
  private readonly memory = new Map<Storage, Uint8Array>()
  private readonly paths = new Map<ScriptObject, string>()
  private readonly values = new Map<ScriptObject, Map<string, StateValue>>()
  private readonly changing = new Map<ScriptObject, Set<number>>()
  /** Bytes of all that outlives calls. */
  bytes = 0
  /** Attributes that methods were seen to change. */
  changes = 0

  constructor(root: ScriptObject) {
    const seen = new Set<object>()
    const pending: Value[] = [root]
    this.paths.set(root, '')
    while (pending.length > 0) {
      const value = pending.pop()!
      if (typeof value !== 'object' || value === null || value instanceof Tensor || seen.has(value)) continue
      seen.add(value)
      if (value instanceof ScriptObject) this.addObject(value)
      else if (Array.isArray(value)) this.lists.set(value, [...value])
      else if (value instanceof Map) this.dicts.set(value, [...value])
      pending.push(...(elementsOf(value) ?? []))
    }
    for (const { storage } of reachable([root])) if (!this.memory.has(storage)) this.memory.set(storage, bytesOf(storage))
  }

  private addObject(object: ScriptObject): void {
    this.slots.set(object, [...object.slots])
    const path = this.paths.get(object)
    object.slots.forEach((value, i) => {
      if (value instanceof ScriptObject && !this.paths.has(value)) this.paths.set(value, `${path ?? ''}${object.names[i]!}.`)
    })
  }

  /** The path of an attribute. */
  nameOf({ object, slot }: StateSlot): string {
    return `${this.paths.get(object) ?? ''}${object.names[slot]!}`
  }

  /** What a call that changes attributes begins with at a place of one; `inside` is its path in a container: `.0`. */
  valueAt(place: StateSlot, inside: string, value: Tensor | number | Float): StateValue {
    const { object, slot } = place
    const known = this.values.get(object) ?? new Map<string, StateValue>()
    this.values.set(object, known)
    const key = `${slot}${inside}`
    let found = known.get(key)
    if (found === undefined) {
      const first = value instanceof Tensor ? value : tensorOf(value)
      found = { name: this.nameOf(place) + inside, first, offset: this.bytes }
      known.set(key, found)
      this.bytes += Math.ceil((numelOf(first.shape) * itemSize(first.type)) / ALIGNMENT) * ALIGNMENT
    }
    return found
  }

  /** A method changes these attributes. */
  noteChanging(places: Iterable<StateSlot>): void {
    for (const { object, slot } of places) {
      const slots = this.changing.get(object) ?? new Set<number>()
      this.changing.set(object, slots)
      if (!slots.has(slot)) this.changes++
      slots.add(slot)
    }
  }

  /** Makes the attributes that methods were seen to change inputs of what is recorded. False where there are none. */
  markIn(parts: ModuleParts): boolean {
    for (const [object, slots] of this.changing) for (const slot of slots) parts.addState(object, slot)
    return this.changing.size > 0
  }

  restore(): void {
    for (const [object, values] of this.slots) values.forEach((value, i) => (object.slots[i] = value))
    for (const [list, items] of this.lists) list.splice(0, list.length, ...items)
    for (const [dict, entries] of this.dicts) {
      dict.clear()
      for (const [key, value] of entries) dict.set(key, value)
    }
    for (const [storage, bytes] of this.memory) if (storage.version > 0 && storage.live) storage.write(bytes)
  }
}

function tensorOf(value: number | Float): Tensor {
  return value instanceof Float
    ? Tensor.fromStorage(Float64Array.of(value.value), { dtype: 'float64', shape: [] })
    : Tensor.fromStorage(BigInt64Array.of(BigInt(value)), { dtype: 'int64', shape: [] })
}
