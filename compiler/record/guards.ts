import { Float } from '../../runtime/tensor/scalar.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { ProgramInstance } from '../../interpreter/run-state.js'

/** Entries of containers in attributes that are compared before each replay; a method that reads more is interpreted. */
const MAX_ENTRIES = 256

interface AttributeGuard {
  readonly object: ScriptObject
  readonly slot: number
  readonly value: Value
}

interface ContainerGuard {
  readonly container: Value[] | Map<unknown, Value> | Tuple
  readonly entries: readonly unknown[]
}

interface StorageGuard {
  readonly storage: Storage
  readonly version: number
}

/** What a recording took from the module: attributes, what lists among them held, and the contents of tensors. */
export class Guards {
  private readonly attributes: AttributeGuard[] = []
  /** Slots of each object that are among them. */
  private readonly slots = new Map<ScriptObject, Set<number>>()
  private readonly containers: ContainerGuard[] = []
  private readonly storages = new Map<Storage, number>()
  private storageList: StorageGuard[] | null = null
  private entries = 0
  private checkedAt: number

  constructor(private readonly program: ProgramInstance) {
    this.checkedAt = program.attributeWrites
  }

  /** Attributes that were read. */
  *knownAttributes(): Iterable<{ readonly object: ScriptObject; readonly slot: number }> {
    yield* this.attributes
  }

  /** Remembers the value of an attribute. False where it holds too much to compare. */
  addAttribute(object: ScriptObject, slot: number): boolean {
    const value = object.slots[slot]!
    const slots = this.slots.get(object) ?? new Set()
    if (slots.has(slot)) return true
    this.slots.set(object, slots.add(slot))
    this.attributes.push({ object, slot, value })
    return this.addContainer(value)
  }

  private addContainer(value: Value): boolean {
    if (!isContainer(value) || this.containers.some((g) => g.container === value)) return true
    const entries = entriesOf(value)
    this.entries += entries.length
    if (this.entries > MAX_ENTRIES) return false
    this.containers.push({ container: value, entries })
    return entries.every((entry) => this.addContainer(entry as Value))
  }

  hasAttribute(object: ScriptObject, slot: number): boolean {
    return this.attributes.some((g) => g.object === object && g.slot === slot)
  }

  hasContainer(container: Value): boolean {
    return this.containers.some((g) => g.container === container)
  }

  /** True for what lies in a container that was read. */
  isInContainer(value: Value): boolean {
    return this.containers.some((g) => g.entries.includes(value))
  }

  addTensor({ storage }: Tensor): void {
    this.addStorage(storage)
  }

  addStorage(storage: Storage): void {
    if (!this.storages.has(storage)) this.storages.set(storage, storage.version)
  }

  hasStorage(storage: Storage): boolean {
    return this.storages.has(storage)
  }

  /** True where some of these lie in memory of the module that was read. */
  shareMemory(tensors: readonly Tensor[]): boolean {
    return tensors.some(({ storage }) => this.storages.has(storage))
  }

  /** Memory of the module's tensors that were read. */
  knownStorages(): Iterable<Storage> {
    return this.storages.keys()
  }

  /** True where no tensor was written to, `except` for those over this memory. */
  areUnwritten(except: ReadonlySet<Storage>): boolean {
    for (const [storage, version] of this.storages) if (storage.version !== version && !except.has(storage)) return false
    return true
  }

  /** True while everything is as it was recorded. */
  hold(): boolean {
    const { program } = this
    if (program.attributeWrites !== this.checkedAt) {
      for (const { object, slot, value } of this.attributes) if (!Object.is(object.slots[slot], value)) return false
      this.checkedAt = program.attributeWrites
    }
    for (const { container, entries } of this.containers) if (!sameEntries(container, entries)) return false
    const list = (this.storageList ??= [...this.storages].map(([storage, version]) => ({ storage, version })))
    for (let i = 0; i < list.length; i++) {
      const { storage, version } = list[i]!
      if (storage.version !== version || !storage.live) return false
    }
    return true
  }
}

function isContainer(value: Value): value is Value[] | Map<never, Value> | Tuple {
  return Array.isArray(value) || value instanceof Map || value instanceof Tuple
}

function entriesOf(container: Value[] | Map<unknown, Value> | Tuple): unknown[] {
  if (container instanceof Map) return [...container.keys(), ...container.values()]
  return [...(container instanceof Tuple ? container.items : container)]
}

function sameEntries(container: Value[] | Map<unknown, Value> | Tuple, entries: readonly unknown[]): boolean {
  const now = entriesOf(container)
  return now.length === entries.length && now.every((entry, i) => sameEntry(entry as Value, entries[i] as Value))
}

function sameEntry(a: Value, b: Value): boolean {
  if (a instanceof Float && b instanceof Float) return Object.is(a.value, b.value)
  if (a instanceof Device && b instanceof Device) return a.toString() === b.toString()
  return Object.is(a, b)
}

/** True for values without tensors, objects or anything that can change. `hasFewPaths` holds of them. */
export function isPlain(value: Value): boolean {
  if (Array.isArray(value)) return value.every(isPlain)
  if (value instanceof Tuple) return value.items.every(isPlain)
  if (value instanceof Map) return [...value].every(([key, item]) => !(key instanceof Tensor) && isPlain(item))
  return !(value instanceof Tensor || value instanceof ScriptObject || value instanceof CustomObject)
}
