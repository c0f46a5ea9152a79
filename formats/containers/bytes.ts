import { PtliteError } from '../../runtime/error.js'
import { isArrayBuffer, isSharedArrayBuffer, isUint8Array } from '../../runtime/intrinsics.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { damaged } from '../../program/file-error.js'
import { heldBytes, type Mapping, openFile } from './model-memory.js'

const abandoned = new FinalizationRegistry<Mapping>((mapping) => kernels.mem_unmap(mapping))

/** Has a mapping go with the last of those who hold it: the source, and storages in it. */
export function watch(mapping: Mapping): void {
  abandoned.register(mapping, { ...mapping }, mapping)
}

/** What archives are read from: a file, or a part of one. */
export type ByteReader = Pick<ByteSource, 'size' | 'read' | 'peek' | 'storageAt'>

const PEEKED_BYTES = 512

/** Bytes, and their numbers. */
interface Peeked {
  readonly bytes: Uint8Array
  readonly fields: DataView
  /** Where the first of them stands in the file. */
  readonly start: number
}

/** Milliseconds between looks at a file that is in use. */
const LOOK_AGAIN = 1000

/** What can be opened: a path, bytes, or what is open. */
export type Openable = string | Uint8Array | ArrayBuffer | ByteSource

/**
 * Opens a path or bytes in memory. A file is mapped, or read into memory of the process where `map` is false. Throws NOT_FOUND where
 * there is no such file, and INVALID_FILE where it cannot be read.
 */
export function openSource(file: Openable, map = true): ByteSource {
  if (file instanceof ByteSource) return file
  // not instanceof: the buffer may come from another realm
  if (isArrayBuffer(file)) return sourceIn(new Uint8Array(file))
  // what others write while it is read is not what was checked
  if (isUint8Array(file)) return sourceIn(isSharedArrayBuffer(file.buffer) ? Uint8Array.from(file) : file)
  if (typeof file !== 'string') throw new PtliteError('INVALID_ARGUMENT', `expected a path or bytes, found ${kindOf(file)}`)
  try {
    const { memory, change } = openFile(file, map)
    if (!(memory instanceof Uint8Array)) watch(memory)
    return new ByteSource(file, memory, file, change)
  } catch (cause) {
    const { message } = cause as Error
    if (cause instanceof PtliteError && cause.code !== 'INVALID_FILE') throw cause
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((cause as { readonly code?: string }).code!)
    throw new PtliteError(isMissing ? 'NOT_FOUND' : 'INVALID_FILE', `cannot read the model ${file.replaceAll('\0', '\\0')}: ${message}`, {
      cause,
    })
  }
}

/** Bytes in memory that goes with the source. */
function sourceIn(bytes: Uint8Array): ByteSource {
  const memory = heldBytes(bytes)
  if (!(memory instanceof Uint8Array)) watch(memory)
  return new ByteSource('the model', memory)
}

/**
 * The bytes of a model file. A file on disk is mapped privately: writes to a weight or buffer stay in this process. Storages hold the
 * mapping, so that it goes when the last of them is collected, or at `close`.
 */
export class ByteSource {
  readonly size: number
  private looked = 0
  private peeked: Peeked | undefined

  constructor(
    /** How messages name the file. */
    readonly label: string,
    private memory: Uint8Array | Mapping | undefined,
    /** Of a file on disk. */
    readonly path?: string,
    /** Of one that is mapped: what has become of it, null where nothing has. */
    private readonly change?: () => string | null,
  ) {
    this.size = memory instanceof Uint8Array ? memory.length : memory!.size
  }

  /** True where `read` costs no copy. */
  get resident(): boolean {
    return this.memory instanceof Uint8Array
  }

  /** The first bytes, which tell what a file is. */
  get head(): Uint8Array {
    return this.read(0, Math.min(8, this.size))
  }

  /** Bytes for JavaScript to look at; not to be written to. Throws INVALID_FILE where they are outside of the file. */
  read(offset: number, length: number): Uint8Array {
    const memory = this.reach(offset, length)
    if (memory instanceof Uint8Array) return memory.subarray(offset, offset + length)
    const bytes = new Uint8Array(length)
    if (length > 0) kernels.mem_read({ address: memory.address + offset, bytes: length }, bytes)
    return bytes
  }

  /** A few bytes for JavaScript to look at, and what stands behind them: records of an archive follow each other. */
  peek(offset: number, length: number): Peeked {
    const { peeked } = this
    if (peeked && offset >= peeked.start && offset + length <= peeked.start + peeked.bytes.length) return peeked
    const bytes = this.read(offset, Math.max(length, Math.min(PEEKED_BYTES, this.size - offset)))
    return (this.peeked = { bytes, fields: new DataView(bytes.buffer, bytes.byteOffset), start: offset })
  }

  /** Native memory with these bytes, at an address that is a multiple of `alignment`: in place where the file is mapped. */
  storageAt(offset: number, length: number, alignment: number): Storage {
    const memory = this.reach(offset, length)
    // a file is only read where there are no kernels: what is native memory elsewhere is none then, which says that it was disposed
    if (memory instanceof Uint8Array && this.path !== undefined) return Storage.borrow(0, length, memory)
    return memory instanceof Uint8Array || length === 0 || offset % alignment !== 0
      ? Storage.holding(this.read(offset, length))
      : Storage.borrow(memory.address + offset, length, memory)
  }

  /**
   * Throws INVALID_FILE where a mapped file was written to or cut off since it was opened: its bytes are others then, or gone, which would end
   * the process (SIGBUS). One that was replaced or removed is still there for those who have it open. `often`: at most once in a second.
   */
  checkUnchanged(often = false): void {
    if (this.change === undefined || this.memory === undefined) return
    const time = Date.now()
    if (often && time - this.looked < LOOK_AGAIN) return
    const change = this.change()
    if (change !== null) throw damaged(`${this.label}: ${change}`)
    this.looked = time
  }

  /** Gives the mapping up. No storage of it may be in use. */
  close(): void {
    const { memory } = this
    this.memory = undefined
    if (memory === undefined || memory instanceof Uint8Array) return
    abandoned.unregister(memory)
    kernels.mem_unmap(memory)
  }

  /** The memory, where it has these bytes. */
  private reach(offset: number, length: number): Uint8Array | Mapping {
    const { label, size, memory } = this
    if (memory === undefined) throw new PtliteError('DISPOSED', `${label}: the file was closed`)
    if (!(offset >= 0 && length >= 0 && offset + length <= size))
      throw damaged(`${label}: expected ${length} bytes at offset ${offset}, but the file ends at ${size}`)
    return memory
  }
}
