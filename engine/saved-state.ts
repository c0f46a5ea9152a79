import { PtliteError } from '../runtime/error.js'
import { reachable } from '../program/reach.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import type { DType } from '../runtime/tensor/dtype.js'
import type { Quant } from '../runtime/tensor/quant.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { sameShape } from '../runtime/tensor/shape.js'
import { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'

/** What a module's calls have changed, as `Module.saveState` gives it. */
export class ModuleState {
  /** Bytes that it keeps. */
  readonly bytes: number
  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.#parts = parts
    this.bytes = [...parts.memory.values(), ...parts.replaced.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  }

  /** @internal Copies what of `root` is not as it was, when its tensors were `originals`, but for what is in the memory of `free`. */
  static of(root: ScriptObject, originals: ReadonlySet<Tensor>, free?: ReadonlySet<Storage>): ModuleState {
    const containers = new Map<Container, readonly Value[]>()
    const memory = new Map<Storage, Copy>()
    const replaced = new Map<Tensor, TensorCopy>()
    for (const container of containersOf(root)) containers.set(container, itemsOf(container))
    for (const t of reachable([root])) {
      if (!originals.has(t))
        replaced.set(t, { bytes: bytesOf(t.storage), offset: t.offset, shape: t.shape, strides: t.strides, type: t.type, quant: t.quant })
      else if (t.storage.version > 0 && !memory.has(t.storage) && free?.has(t.storage) !== true)
        memory.set(t.storage, { bytes: bytesOf(t.storage) })
    }
    return new ModuleState({ root, containers, memory, replaced })
  }

  /** Whether the module that it is of goes on from `other` as from it: all that calls have changed has the same values. False for states of two modules. */
  equals(other: ModuleState): boolean {
    if (!reading(() => other instanceof ModuleState)) return false
    const [a, b] = [this.#parts, other.#parts]
    const sameMemory =
      a.memory.size === b.memory.size && [...a.memory].every(([storage, { bytes }]) => sameBytes(bytes, b.memory.get(storage)?.bytes))
    return a.root === b.root && sameMemory && new Comparison(a, b).same(a.root, b.root)
  }

  /** @internal Whether it has what this object held. */
  static holds(state: ModuleState, object: ScriptObject): boolean {
    return state.#parts.containers.has(object)
  }

  /** @internal Puts it back. Throws INVALID_ARGUMENT for the state of another module, and for one that lacks what calls have changed since, but for what is in the memory of `free`. */
  static restore(state: ModuleState, root: ScriptObject, originals: ReadonlySet<Tensor>, free?: ReadonlySet<Storage>): void {
    ModuleState.check(state, root, originals, free)
    const { containers, memory, replaced } = state.#parts
    for (const [storage, { bytes }] of memory) storage.write(bytes)
    const anew = new Map([...replaced].map(([t, copy]) => [t as Value, tensorOf(copy) as Value]))
    for (const [container, items] of containers)
      put(
        container,
        items.map((item) => anew.get(item) ?? item),
      )
  }

  /** @internal Throws what `restore` would. */
  static check(state: ModuleState, root: ScriptObject, originals: ReadonlySet<Tensor>, free?: ReadonlySet<Storage>): void {
    const { root: own, memory } = state.#parts
    if (own !== root) throw new PtliteError('INVALID_ARGUMENT', 'loadState(): this is the state of another module')
    for (const { storage } of originals)
      if (storage.version > 0 && storage.live && !memory.has(storage) && free?.has(storage) !== true)
        throw new PtliteError(
          'INVALID_ARGUMENT',
          'loadState(): a later call has changed a tensor that none had changed when this state was saved; save it after a first call',
        )
  }
}

type Container = ScriptObject | Value[] | Map<Value, Value>

interface Copy {
  readonly bytes: Uint8Array
}
interface TensorCopy extends Copy {
  readonly offset: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly type: DType
  readonly quant: Quant | null
}
interface Parts {
  readonly root: ScriptObject
  /** What objects, lists and dicts held; keys and values of a dict in turns. */
  readonly containers: ReadonlyMap<Container, readonly Value[]>
  /** Of tensors that the module was loaded with, which are written to. */
  readonly memory: ReadonlyMap<Storage, Copy>
  /** Tensors that calls have put in their place. */
  readonly replaced: ReadonlyMap<Tensor, TensorCopy>
}

/** Of what two states of a module hold. */
class Comparison {
  /** Containers that are compared already, with those that they are compared with. */
  private readonly pairs = new Map<Container, Container>()

  constructor(
    private readonly a: Parts,
    private readonly b: Parts,
  ) {}

  same(a: Value, b: Value): boolean {
    if (a instanceof Tensor) {
      const [one, other] = [this.a.replaced.get(a), this.b.replaced.get(b as Tensor)]
      return one === undefined || other === undefined ? a === b : sameTensors(one, other)
    }
    if (a instanceof Tuple) return b instanceof Tuple && this.sameItems(a.items, b.items)
    if (a instanceof Complex || a instanceof Float) return b instanceof a.constructor && String(a) === String(b)
    const [items, others] = [this.a.containers.get(a as Container), this.b.containers.get(b as Container)]
    if (items === undefined || others === undefined) return Object.is(a, b)
    const container = a as Container
    if (this.pairs.has(container)) return this.pairs.get(container) === b
    this.pairs.set(container, b as Container)
    return container.constructor === (b as Container).constructor && this.sameItems(items, others)
  }

  private sameItems(items: readonly Value[], others: readonly Value[]): boolean {
    return items.length === others.length && items.every((item, i) => this.same(item, others[i]!))
  }
}

function sameTensors(a: TensorCopy, b: TensorCopy): boolean {
  return (
    a.type === b.type &&
    a.offset === b.offset &&
    sameShape(a.shape, b.shape) &&
    sameShape(a.strides, b.strides) &&
    a.quant === b.quant &&
    sameBytes(a.bytes, b.bytes)
  )
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i])
}

/** Every object, list and dict that can be reached. */
function containersOf(root: ScriptObject): Set<Container> {
  const found = new Set<Container>()
  const seen = new Set<object>()
  const pending: Value[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()!
    if (typeof value !== 'object' || value === null || value instanceof Tensor || value instanceof CustomObject || seen.has(value)) continue
    seen.add(value)
    if (value instanceof ScriptObject || Array.isArray(value) || value instanceof Map) {
      found.add(value as Container)
      pending.push(...itemsOf(value as Container).filter((item) => typeof item === 'object'))
    } else if (value instanceof Tuple) pending.push(...value.items)
  }
  return found
}

function itemsOf(container: Container): readonly Value[] {
  if (container instanceof ScriptObject) return [...container.slots]
  return container instanceof Map ? [...container].flat() : [...container]
}

function put(container: Container, items: readonly Value[]): void {
  if (container instanceof Map) {
    container.clear()
    for (let i = 0; i < items.length; i += 2) container.set(items[i]!, items[i + 1]!)
    return
  }
  const list = container instanceof ScriptObject ? container.slots : container
  list.length = 0
  for (const item of items) list.push(item)
}

function bytesOf(storage: Storage): Uint8Array {
  const bytes = new Uint8Array(storage.byteLength)
  if (bytes.byteLength > 0) storage.read(0, bytes)
  return bytes
}

function tensorOf({ bytes, offset, shape, strides, type, quant }: TensorCopy): Tensor {
  const t = new Tensor(Storage.holding(bytes), offset, shape, strides, type, quant)
  t.pinned = true
  return t
}
