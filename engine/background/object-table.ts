import { PtliteError } from '../../runtime/error.js'
import {
  CustomObject,
  Device,
  type DictKey,
  listType,
  RandomGenerator,
  ScriptObject,
  setListType,
  Tuple,
  type Value,
} from '../../runtime/tensor/value.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { become, Tensor } from '../../runtime/tensor/tensor.js'
import type { Body, Encoded, Node, Ref } from './nodes.js'

type Shared = Storage | Exclude<Value, null | boolean | number | bigint | string>

/** Memory that the other thread made and that this thread shall see under its own `Storage`. */
export type ReceiveStorage = (address: number, bytes: number) => Storage

/**
 * The objects that two threads know under the same numbers, one table in each. Contents that change on one side are
 * found by comparing with what was sent last (`changes`) and put into the same objects on the other (`receive`), so that lists,
 * dicts and attributes stay what they are for whoever holds them.
 */
export class ObjectTable {
  private readonly ids = new Map<Shared, number>()
  private readonly objects = new Map<number, Shared>()
  /** Shallow contents as the other side knows them. */
  private readonly known = new Map<number, readonly unknown[]>()
  private next = 1
  /** Since `prune`, no object was added and none but memory has changed: the roots still reach every object. */
  private isReached = false
  /** Storages that hold what others were packed to, at the time of `prune`. */
  private packed = 0
  /** Storages of this thread that the other one made larger, by number, until that has been told where they are now. */
  readonly grown = new Set<number>()
  /** Objects that have a number and no node yet; null while none is being sent. */
  private waiting: { readonly id: number; readonly object: Shared }[] | null = null
  /** What objects are taken over from while changes are being sent. */
  private lender: ObjectTable | null = null

  /** `parent` has objects that outlive this table, and counts for both. */
  constructor(
    private readonly sign: 1 | -1,
    private readonly receiveStorage: ReceiveStorage,
    private readonly parent: ObjectTable | null = null,
  ) {}

  /** The value's number; objects that are new to the table are appended to `nodes`. */
  send(value: Value | undefined, nodes: Node[]): Encoded {
    if (typeof value !== 'object' || value === null) return value
    return this.sendObject(value, nodes)
  }

  /**
   * Objects of this table whose contents are not what the other side knows, of those that `roots` reach: what a run has made for others may
   * be gone already. What they hold of `run`, a table of this one's, is of this one from now on, under its number there: an argument that was made
   * an attribute is still the caller's.
   */
  changes(nodes: Node[], roots: readonly Value[], run: ObjectTable | null = null): void {
    const changed = [...this.known].filter(([id, known]) => !holds(this.objects.get(id)!, known))
    if (changed.length === 0) return
    this.isReached &&= changed.every(([id]) => isLiveMemory(this.objects.get(id)!))
    const reached = this.isReached ? null : reachedFrom(roots)
    this.lender = run
    try {
      for (const [id] of changed) {
        const object = this.objects.get(id)!
        if (reached?.has(object) === false) continue
        this.known.set(id, contentsOf(object))
        nodes.push({ id, body: this.bodyOf(object, nodes) })
      }
    } finally {
      this.lender = null
    }
  }

  /** True where every object of this table holds what the other side knows. */
  unchanged(): boolean {
    return [...this.known].every(([id, known]) => holds(this.objects.get(id)!, known))
  }

  /** The number of an object that both sides know. */
  numberOf(object: Shared): number | undefined {
    return this.idOf(object)
  }

  /** The object of a number that both sides know. */
  objectOf(id: number): Shared | undefined {
    return this.find(id)
  }

  /** Makes the objects of `nodes`, or changes those that are known. Those that `run` has, a table of this one's, are of this one from now on. */
  receive(nodes: readonly Node[], run: ObjectTable | null = null): void {
    if (run !== null) for (const { id } of nodes) this.adopt(id, run)
    // storages first, then tensors, then what may contain each other
    for (const { id, body } of nodes) if (body.kind === 'storage') this.receiveMemory(id, body)
    for (const { id, body } of nodes) {
      if (body.kind === 'storage') for (const d of body.derived) this.addDerived(id, d.key, d.version, d.storage)
    }
    const filled: [Shared, Body][] = []
    for (const { id, body } of nodes) {
      if (body.kind === 'storage') continue
      this.isReached = false
      let object = this.find(id)
      if (object === undefined) {
        object = this.shellOf(body)
        this.register(id, object)
      }
      filled.push([object, body])
    }
    for (const [object, body] of filled) this.fill(object, body)
    for (const { id } of nodes) if (this.objects.has(id)) this.known.set(id, contentsOf(this.objects.get(id)!))
  }

  /** The value behind what `send` gave. */
  valueOf(encoded: Encoded): Value {
    if (typeof encoded !== 'object' || encoded === null) return encoded ?? null
    const object = this.find(encoded.ref)
    if (object === undefined || object instanceof Storage) throw new PtliteError('INTERNAL', `no object ${encoded.ref} in this thread`)
    return object
  }

  /** Storages of this table, those of its parent not included. */
  storages(): Storage[] {
    return [...this.ids.keys()].filter((object) => object instanceof Storage)
  }

  /** Tensors and storages of this table that this thread made, by number. */
  made(): Map<number, Tensor | Storage> {
    const found = new Map<number, Tensor | Storage>()
    for (const [id, object] of this.objects) {
      if ((object instanceof Tensor || object instanceof Storage) && id * this.sign > 0) found.set(id, object)
    }
    return found
  }

  /** Storages of this table that the other thread made, by number. */
  receivedStorages(): Map<number, Storage> {
    const found = new Map<number, Storage>()
    for (const [id, object] of this.objects) if (object instanceof Storage && id * this.sign < 0) found.set(id, object)
    return found
  }

  /** Memory that this thread made and the other has taken over at another address: tensors look there from now on. */
  replaceStorage(id: number, storage: Storage): void {
    const old = this.objects.get(id)
    if (!(old instanceof Storage)) return
    this.isReached = false
    storage.version = old.version
    this.ids.delete(old)
    this.register(id, storage)
    this.known.set(id, contentsOf(storage))
    for (const [number, t] of this.objects) {
      if (!(t instanceof Tensor) || t.storage !== old) continue
      become(t, storage, t.offset, t.shape, t.strides)
      this.known.set(number, contentsOf(t))
    }
  }

  /** Forgets what `roots` do not reach. Both threads do it after the same run, so that numbers keep their meaning. */
  prune(roots: readonly Value[]): void {
    if (this.isReached && this.packedStorages() === this.packed) return
    const reached = reachedFrom(roots)
    for (const [id, object] of this.objects) if (!reached.has(object)) this.forget(id, object)
    this.isReached = true
    this.packed = this.packedStorages()
  }

  /** The number of storages that hold what others were packed to; NaN where some memory is gone. */
  private packedStorages(): number {
    let count = 0
    for (const object of this.ids.keys())
      if (object instanceof Storage) count += object.live ? (Storage.derivedOf(object)?.length ?? 0) : NaN
    return count
  }

  private adopt(id: number, run: ObjectTable): void {
    const object = run.objects.get(id)
    if (object === undefined) return
    run.forget(id, object)
    this.register(id, object)
  }

  private forget(id: number, object: Shared): void {
    this.objects.delete(id)
    this.ids.delete(object)
    this.known.delete(id)
  }

  private find(id: number): Shared | undefined {
    return this.objects.get(id) ?? this.parent?.find(id)
  }

  private idOf(object: Shared): number | undefined {
    return this.ids.get(object) ?? this.parent?.idOf(object)
  }

  private register(id: number, object: Shared): void {
    this.isReached = false
    this.ids.set(object, id)
    this.objects.set(id, object)
  }

  private sendObject(object: Shared, nodes: Node[]): Ref {
    const found = this.idOf(object)
    if (found !== undefined) return { ref: found }
    const id = this.newId(object)
    const sending = this.waiting !== null
    const waiting = (this.waiting ??= [])
    waiting.push({ id, object })
    // what an object holds waits until its own node is made: no depth is too great
    if (!sending) {
      try {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          nodes.push({ id: next.id, body: this.bodyOf(next.object, nodes) })
          this.known.set(next.id, contentsOf(next.object))
        }
      } finally {
        this.waiting = null
      }
    }
    return { ref: id }
  }

  private newId(object: Shared): number {
    const lent = this.lender?.ids.get(object)
    if (lent !== undefined) {
      this.adopt(lent, this.lender!)
      return lent
    }
    const id = this.sign * (this.parent ?? this).next++
    this.register(id, object)
    return id
  }

  private bodyOf(object: Shared, nodes: Node[]): Body {
    const all = (values: readonly Value[]): Encoded[] => values.map((v) => this.send(v, nodes))
    if (object instanceof Storage) {
      // the worker may use what the main thread packed, but not the other way round: its memory goes with its module
      const packed = this.sign > 0 ? (Storage.derivedOf(object) ?? []) : []
      for (const d of packed) d.lent = true
      const derived = packed.map(({ key, version, storage }) => ({ key, version, storage: this.sendObject(storage, nodes) }))
      const { startAddress: address, byteLength: bytes, version, rounding } = object
      return { kind: 'storage', address, bytes, version, rounding, derived }
    }
    if (object instanceof Tensor) {
      const { offset, shape, strides, type, quant } = object
      return { kind: 'tensor', storage: this.sendObject(object.storage, nodes), offset, shape, strides, type, quant }
    }
    if (object instanceof Float) return { kind: 'float', value: object.value }
    if (object instanceof Complex) return { kind: 'complex', re: object.re, im: object.im }
    if (object instanceof Tuple) return { kind: 'tuple', items: all(object.items), fields: object.fields }
    if (object instanceof ScriptObject) return { kind: 'object', typeName: object.typeName, names: object.names, slots: all(object.slots) }
    if (object instanceof CustomObject) {
      const isGenerator = object instanceof RandomGenerator
      return { kind: 'custom', className: object.className, state: this.send(object.state, nodes), isGenerator }
    }
    if (object instanceof Device) return { kind: 'device', type: object.type, index: object.index }
    if (object instanceof Map)
      return { kind: 'map', entries: [...object].map(([k, v]) => [this.send(k, nodes), this.send(v, nodes)] as const) }
    return { kind: 'list', items: all(object), elementType: listType(object) }
  }

  private receiveMemory(id: number, body: Extract<Body, { kind: 'storage' }>): void {
    let storage = this.find(id) as Storage | undefined
    if (storage === undefined) {
      storage = this.receiveStorage(body.address, body.bytes)
      this.register(id, storage)
    } else if (storage.byteLength !== body.bytes && storage.live && body.address !== 0) {
      Storage.takeOver(storage, this.receiveStorage(body.address, body.bytes))
      this.grown.add(id)
    }
    storage.version = body.version
    storage.rounding = body.rounding
    // the main thread, whose memory it is, has given it back
    if (this.sign < 0 && body.address === 0) storage.free()
  }

  private addDerived(id: number, key: string, version: number, ref: Ref): void {
    const storage = this.find(id) as Storage
    const known = Storage.derivedOf(storage) ?? []
    if (known.some((d) => d.key === key && d.version === version)) return
    Storage.setDerived(storage, [...known, { key, version, storage: this.find(ref.ref) as Storage, lent: true }])
  }

  /** The object without what it holds. */
  private shellOf(body: Body): Shared {
    switch (body.kind) {
      case 'tensor': {
        const t = new Tensor(this.find(body.storage.ref) as Storage, body.offset, body.shape, body.strides, body.type, body.quant)
        t.pinned = true
        return t
      }
      case 'float':
        return new Float(body.value)
      case 'complex':
        return new Complex(body.re, body.im)
      case 'list':
        return []
      case 'tuple':
        return new Tuple([], body.fields)
      case 'map':
        return new Map<DictKey, Value>()
      case 'object':
        return new ScriptObject(body.typeName, [], [])
      case 'custom':
        return body.isGenerator ? new RandomGenerator() : new CustomObject(body.className, body.state === null ? null : [])
      case 'device':
        return new Device(body.type, body.index)
      case 'storage':
        throw new PtliteError('INTERNAL', 'storages are received first')
    }
  }

  private fill(object: Shared, body: Body): void {
    const all = (items: readonly Encoded[]): Value[] => items.map((item) => this.valueOf(item))
    if (body.kind === 'tensor' && object instanceof Tensor) {
      const storage = this.find(body.storage.ref) as Storage
      if (
        storage !== object.storage ||
        body.offset !== object.offset ||
        !same(body.shape, object.shape) ||
        !same(body.strides, object.strides)
      ) {
        become(object, storage, body.offset, body.shape, body.strides)
      }
    } else if (body.kind === 'list' && Array.isArray(object)) {
      replaceItems(object, all(body.items))
      if (body.elementType !== undefined) setListType(object, body.elementType)
    } else if (body.kind === 'tuple' && object instanceof Tuple) {
      replaceItems(object.items, all(body.items))
    } else if (body.kind === 'map' && object instanceof Map) {
      object.clear()
      for (const [k, v] of body.entries) object.set(this.valueOf(k) as DictKey, this.valueOf(v))
    } else if (body.kind === 'object' && object instanceof ScriptObject) {
      replaceItems(object.names, body.names)
      replaceItems(object.slots, all(body.slots))
    } else if (body.kind === 'custom' && object instanceof CustomObject) {
      Object.assign(object, { state: this.valueOf(body.state) })
    }
  }
}

/** Objects, tensors and their memory behind `roots`. */
function reachedFrom(roots: readonly Value[]): Set<Shared> {
  const reached = new Set<Shared>()
  const pending: unknown[] = [...roots]
  while (pending.length > 0) {
    const item = pending.pop()
    if (typeof item !== 'object' || item === null || reached.has(item as Shared)) continue
    const object = item as Shared
    reached.add(object)
    if (object instanceof CustomObject) pending.push(object.state)
    if (object instanceof Storage) Storage.derivedOf(object)?.forEach((d) => pending.push(d.storage))
    for (const inner of contentsOf(object)) if (typeof inner === 'object') pending.push(inner)
  }
  return reached
}

/** One by one: there may be more than a function takes arguments. */
function replaceItems<T>(list: T[], items: readonly T[]): void {
  list.length = 0
  for (const item of items) list.push(item)
}

/** True where an object's contents are these. Called for every object of a module with each run: without lists of its own. */
function holds(object: Shared, known: readonly unknown[]): boolean {
  if (object instanceof Storage) return object.version === known[0] && object.live === known[1] && object.byteLength === known[2]
  if (object instanceof Tensor)
    return object.storage === known[0] && object.offset === known[1] && object.shape === known[2] && object.strides === known[3]
  const items = object instanceof Tuple ? object.items : object instanceof ScriptObject ? object.slots : contentsOf(object)
  return items.length === known.length && items.every((item, i) => Object.is(item, known[i]))
}

function isLiveMemory(object: Shared): boolean {
  return object instanceof Storage && object.live
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i])
}

/** What an object holds, to be compared item by item. */
function contentsOf(object: Shared): readonly unknown[] {
  if (object instanceof Storage) return [object.version, object.live, object.byteLength]
  if (object instanceof Tensor) return [object.storage, object.offset, object.shape, object.strides]
  if (object instanceof Tuple) return [...object.items]
  if (object instanceof ScriptObject) return [...object.slots]
  if (object instanceof Map) return [...object].flat()
  return Array.isArray(object) ? [...object] : []
}
