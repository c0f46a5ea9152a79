import { PtliteError } from '../error.js'
import { bufferOf, byteLengthOf, byteOffsetOf } from '../intrinsics.js'
import * as kernels from '../native/generated/kernels.js'
import { mem_read, mem_write } from '../native/generated/kernels.js'
import { allocate, type Block, release } from '../native/memory.js'
import { letGo } from '../native/held-blocks.js'
import { storageObserver } from './observe.js'
import * as features from '../features.js'

/**
 * A block of 64-byte-aligned memory. Counted by the tensors that view it; the last one to be released gives it back at once. That of
 * a storage that has left the library is V8's to give back, too, when the storage is collected: whoever uses its address has to
 * hold the storage meanwhile.
 */
export class Storage {
  /** Bumped by every write, so that whatever was derived from the contents can be checked. */
  version = 0
  /** A run is being captured that will be repeated with other contents: nothing that it keeps may be derived from these. */
  varies = false
  /** How products round the float32 weights in it; undefined where they take them as they are. */
  rounding: Rounding | undefined
  // callers can reach a storage: what addresses depend on is out of their reach
  #base: number
  #byteLength: number
  #block: Block | undefined
  #users = 0
  #derived: DerivedData[] | undefined
  #leases = 0
  /** To be released when the last lease ends. */
  #doomed: Block[] = []
  #watched = false
  /** Keeps the owner of borrowed memory alive. */
  #keep: unknown

  private constructor(base: number, byteLength: number, block: Block | undefined, keep: unknown) {
    this.#base = base
    this.#byteLength = byteLength
    this.#block = block
    this.#keep = keep
  }

  static allocate(byteLength: number): Storage {
    const block = allocate(byteLength)
    const storage = new Storage(block.address, byteLength, block, undefined)
    if (features.compiler && storageObserver !== null) storageObserver.allocated(storage)
    return storage
  }

  /** New memory with a copy of a typed array's bytes, which the garbage collector may give back. */
  static holding(data: ArrayBufferView): Storage {
    const host = steady(data)
    const bytes = byteLengthOf(host)
    const storage = Storage.allocate(bytes)
    if (bytes > 0) mem_write({ address: storage.address, bytes }, host)
    storage.watch()
    return storage
  }

  /** Memory inside something else, e.g. a mapped file; `keep` is held as long as the storage lives. */
  static borrow(address: number, byteLength: number, keep: unknown): Storage {
    return new Storage(address, byteLength, undefined, keep)
  }

  /** What was given to `borrow` to be held. */
  static keptBy(storage: Storage): unknown {
    return storage.#keep
  }

  /** One more tensor views this storage. */
  static addUser(storage: Storage): void {
    storage.#users++
  }

  /** False where only one tensor views this storage. */
  static isShared(storage: Storage): boolean {
    return storage.#users > 1
  }

  /** One tensor less; the last one gives the memory back. */
  static dropUser(storage: Storage): void {
    if (--storage.#users === 0) storage.free()
  }

  /** What kernels derived from the contents (packed weights), for storages that last as long as a module. */
  static derivedOf(storage: Storage): DerivedData[] | undefined {
    return storage.#derived
  }

  static setDerived(storage: Storage, derived: DerivedData[] | undefined): void {
    storage.#derived = derived
  }

  /** Threads that use the memory change by `by` (see lending.ts). Returns the blocks to be released where that was the last one. */
  static addLease(storage: Storage, by: 1 | -1): readonly Block[] {
    storage.#leases += by
    if (storage.#leases > 0 || storage.#doomed.length === 0) return NONE
    return storage.#doomed.splice(0)
  }

  static isLeased(storage: Storage): boolean {
    return storage.#leases > 0
  }

  /** Gives `storage` the memory of `other`, which has none from then on: tensors that view it see what that holds, at another address. */
  static takeOver(storage: Storage, other: Storage): void {
    storage.checkLive()
    if (features.compiler && storageObserver !== null) storageObserver.moved(storage)
    storage.#dropDerived()
    storage.#giveBack()
    storage.#base = other.#base
    storage.#byteLength = other.#byteLength
    storage.#block = other.#block
    storage.#keep = other.#keep
    other.#base = 0
    other.#block = undefined
    if (storage.#watched) storage.watch()
    else storage.#watched = other.#watched
    storage.version++
  }

  get byteLength(): number {
    return this.#byteLength
  }

  /** False for memory that somebody else releases, such as a mapped file, and after release. */
  get owned(): boolean {
    return this.#block !== undefined
  }

  /** Throws DISPOSED where the memory was given back. */
  get address(): number {
    this.checkLive()
    if (features.compiler && storageObserver !== null) storageObserver.used(this)
    return this.#base
  }

  /** Copies the bytes from `offset` on into an array, as many as it has. Throws INTERNAL where there are less. */
  read(offset: number, to: ArrayBufferView): void {
    const bytes = byteLengthOf(to)
    if (!(offset >= 0 && offset + bytes <= this.#byteLength))
      throw new PtliteError('INTERNAL', `bytes ${offset} to ${offset + bytes} are not in a storage of ${this.#byteLength}`)
    mem_read({ address: this.address + offset, bytes }, to)
    // that it is looked at keeps the storage, which nobody else may hold, from being collected before
    this.checkLive()
  }

  /** Copies the bytes of an array over all of its own. Throws INTERNAL where they are not as many. */
  write(from: Uint8Array): void {
    if (from.byteLength !== this.#byteLength)
      throw new PtliteError('INTERNAL', `cannot write ${from.byteLength} bytes into a storage of ${this.#byteLength}`)
    if (from.byteLength > 0) mem_write({ address: this.address, bytes: from.byteLength }, from)
    this.version++
  }

  private checkLive(): void {
    if (this.#base === 0) throw new PtliteError('DISPOSED', 'the storage of this tensor was disposed')
  }

  /** Like `address`, but 0 after release, and no use of the memory. */
  get startAddress(): number {
    return this.#base
  }

  get live(): boolean {
    return this.#base !== 0
  }

  /** From here on the garbage collector may decide when the memory goes back; memory that is somebody else's goes with whoever has it. */
  watch(): void {
    if (this.#base === 0) return
    this.#watched = true
    if (this.#block !== undefined) letGo(this.#block)
  }

  /** True once the garbage collector may decide; nobody else should release it then. */
  get isWatched(): boolean {
    return this.#watched
  }

  free(): void {
    if (this.#base === 0) return
    if (features.compiler && storageObserver !== null) storageObserver.freed(this)
    this.#dropDerived()
    this.#base = 0
    this.#giveBack()
  }

  #dropDerived(): void {
    for (const d of this.#derived ?? []) d.storage.free()
    this.#derived = undefined
  }

  #giveBack(): void {
    if (this.#block === undefined) return
    if (this.#leases > 0) this.#doomed.push(this.#block)
    else release(this.#block)
    this.#block = undefined
  }
}

const NONE: readonly Block[] = []

/** What weights are rounded to where linear layers and embeddings read them (runtime/operators/support/rounded-weight.ts). */
export interface Rounding {
  /** A WeightFormat. */
  readonly format: number
  /** Numbers of a row that share a scale; 0 where all of them do, or there is none. */
  readonly group: number
  /** Activations are rounded, too: to bytes, or to bfloat16 where weights are. */
  readonly bytes: boolean
}

export interface DerivedData {
  readonly key: string
  readonly version: number
  readonly storage: Storage
  /** It is another thread's, or another thread was given the address. */
  lent?: true
}

/** What is kept with a storage, to be added to. */
export function derivedOf(storage: Storage): DerivedData[] {
  let kept = Storage.derivedOf(storage)
  if (kept === undefined) Storage.setDerived(storage, (kept = []))
  return kept
}

/** Not in the library's types. */
const resizable = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'resizable') as { readonly get: (this: unknown) => boolean }

/** The array, for native code to read, or a copy where other threads share its memory or that can be resized. */
export function steady(array: ArrayBufferView): ArrayBufferView {
  return isFixed(bufferOf(array)) ? array : Uint8Array.from(new Uint8Array(bufferOf(array), byteOffsetOf(array), byteLengthOf(array)))
}

function isFixed(memory: ArrayBufferLike): boolean {
  try {
    return !resizable.get.call(memory)
  } catch {
    // shared memory has another getter
    return false
  }
}

/** What plans and other threads do with storages beside the tensors that view them. */

/** Another thread starts to use the memory: `free` takes effect when the last such lease has ended. */
export function lease(storage: Storage): void {
  Storage.addLease(storage, 1)
}

export function endLease(storage: Storage): void {
  for (const doomed of Storage.addLease(storage, -1)) release(doomed)
}

/** Kept by storages on memory of another thread: what of it could go, for that thread to do. */
export class PagesElsewhere extends Set<Storage> {}

/**
 * Lets go of the pages of a mapped file that lie wholly inside and were not written to: they are read from the file again when
 * they are next used. Other memory stays, and that of another thread, which may be writing to it. Nobody may write to it meanwhile.
 */
export function discardPages(storage: Storage): void {
  const { startAddress, byteLength } = storage
  const keep = Storage.keptBy(storage)
  if (keep instanceof PagesElsewhere) {
    keep.add(storage)
    return
  }
  const isMapped = !storage.owned && keep !== null
  if (isMapped && startAddress !== 0 && !Storage.isLeased(storage)) kernels.mem_discard({ address: startAddress, bytes: byteLength })
}

/** Gives back what kernels derived from the contents, but for `kept` and what another thread knows. */
export function dropDerived(storage: Storage, kept: ReadonlySet<Storage>): void {
  const left = Storage.derivedOf(storage)?.filter((d) => {
    const stays = d.lent === true || kept.has(d.storage)
    if (!stays) d.storage.free()
    return stays
  })
  Storage.setDerived(storage, left)
}
