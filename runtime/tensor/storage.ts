import { PtliteError } from '../error.js'
import { HOLDS_OBSERVERS } from '../held.js'
import { mem_read, mem_write } from '../native/generated/kernels.js'
import { allocate, type Block, letGo, release } from '../native/memory.js'

/** Sees what a run does with memory. */
export interface StorageObserver {
  /** A kernel is about to be given an address in this storage. */
  used(storage: Storage): void
  allocated(storage: Storage): void
  freed(storage: Storage): void
}

/** The error of a structured clone names the value that has none. */
const UNCLONEABLE = /* @__PURE__ */ Symbol('a Tensor: clone or post tensor.detach(), and make a tensor of it by Tensor.from(). It')

let observer: StorageObserver | null = null

/** Makes `next` see the storages of this thread and returns who saw them before, to be put back when done. */
export function observeStorages(next: StorageObserver | null): StorageObserver | null {
  const before = observer
  observer = next
  return before
}

/**
 * A block of 64-byte-aligned memory. Counted by the tensors that view it; the last one to be released gives it back at once. That of
 * a storage that has left the library is V8's to give back, too, when the storage is collected: whoever uses its address has to
 * hold the storage meanwhile.
 */
export class Storage {
  /** Tensors that view this storage. */
  users = 0
  /** Bumped by every write, so that whatever was derived from the contents can be checked. */
  version = 0
  /** What kernels derived from the contents (packed weights), for storages that last as long as a module. */
  derived: DerivedData[] | undefined
  /** A run is being captured that will be repeated with other contents: nothing that it keeps may be derived from these. */
  varies = false
  /** Threads that use the memory (see lending.ts). */
  leases = 0
  /** To be released when the last lease ends. */
  doomed: Block | undefined
  private watched = false
  /** Structured clones would have the address and not the memory. */
  declare private readonly uncloneable: symbol

  private constructor(
    private base: number,
    readonly byteLength: number,
    private block: Block | undefined,
    /** Keeps the owner of borrowed memory alive. */
    readonly keep: unknown,
  ) {
    if (HOLDS_OBSERVERS) this.uncloneable = UNCLONEABLE
  }

  static allocate(byteLength: number): Storage {
    const block = allocate(byteLength)
    const storage = new Storage(block.address, byteLength, block, undefined)
    if (HOLDS_OBSERVERS && observer !== null) observer.allocated(storage)
    return storage
  }

  /** New memory with a copy of `data`, which the garbage collector may give back. */
  static holding(data: ArrayBufferView): Storage {
    const storage = Storage.allocate(data.byteLength)
    if (data.byteLength > 0) mem_write({ address: storage.address, bytes: data.byteLength }, data)
    storage.watch()
    return storage
  }

  /** Memory inside something else, e.g. a mapped file; `keep` is held as long as the storage lives. */
  static borrow(address: number, byteLength: number, keep: unknown): Storage {
    return new Storage(address, byteLength, undefined, keep)
  }

  /** False for memory that somebody else releases, such as a mapped file, and after release. */
  get owned(): boolean {
    return this.block !== undefined
  }

  /** Throws DISPOSED where the memory was given back. */
  get address(): number {
    this.checkLive()
    if (HOLDS_OBSERVERS && observer !== null) observer.used(this)
    return this.base
  }

  /** Copies the bytes from `offset` on into an array, as many as it has. */
  read(offset: number, to: ArrayBufferView): void {
    mem_read({ address: this.address + offset, bytes: to.byteLength }, to)
    // that it is looked at keeps the storage, which nobody else may hold, from being collected before
    this.checkLive()
  }

  private checkLive(): void {
    if (this.base === 0) throw new PtliteError('DISPOSED', 'the storage of this tensor was disposed')
  }

  /** Like `address`, but 0 after release, and no use of the memory. */
  get startAddress(): number {
    return this.base
  }

  get live(): boolean {
    return this.base !== 0
  }

  /** From here on the garbage collector may decide when the memory goes back. */
  watch(): void {
    if (this.block === undefined) return
    this.watched = true
    letGo(this.block)
  }

  /** True once the garbage collector may decide; nobody else should release it then. */
  get isWatched(): boolean {
    return this.watched
  }

  free(): void {
    if (this.base === 0) return
    if (HOLDS_OBSERVERS && observer !== null) observer.freed(this)
    for (const d of this.derived ?? []) d.storage.free()
    this.derived = undefined
    this.base = 0
    if (this.block === undefined) return
    if (HOLDS_OBSERVERS && this.leases > 0) this.doomed = this.block
    else release(this.block)
    this.block = undefined
  }
}

export interface DerivedData {
  readonly key: string
  readonly version: number
  readonly storage: Storage
  /** It is another thread's, or another thread was given the address. */
  lent?: true
}
