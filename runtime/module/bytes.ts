import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { types } from 'node:util'
import { PtliteError } from '../error.js'
import * as kernels from '../native/generated/kernels.js'
import { Storage } from '../tensor/storage.js'
import { damaged } from './file-error.js'

/** The bytes of a model file, whether on disk or in memory. Reads outside of it are INVALID_FILE errors. */
export interface ByteSource {
  /** How messages name the file. */
  readonly label: string
  /** Of a file on disk. */
  readonly path?: string
  readonly size: number
  /** True where `read` costs no copy. */
  readonly resident: boolean
  /** Bytes for JavaScript to look at; not to be written to. */
  read(offset: number, length: number): Uint8Array
  /** Native memory with these bytes, at an address that is a multiple of `alignment`: in place where the file is mapped. */
  storageAt(offset: number, length: number, alignment: number): Storage
  /** Gives the mapping up. No storage of it may be in use. */
  close(): void
}

/** Opens a path or bytes in memory. Throws INVALID_FILE where there is no such file. */
export function openSource(file: string | Uint8Array | ArrayBuffer): ByteSource {
  if (typeof file === 'string') return new MappedFile(file)
  // not instanceof: the buffer may come from another realm
  if (types.isArrayBuffer(file)) return new MemoryBytes(new Uint8Array(file))
  if (types.isUint8Array(file)) return new MemoryBytes(file)
  throw new PtliteError('INVALID_ARGUMENT', `expected a path, a Uint8Array or an ArrayBuffer, found ${typeof file}`)
}

/** New native memory with a copy of `bytes`. */
export function storageFrom(bytes: Uint8Array): Storage {
  const storage = Storage.allocate(bytes.length)
  if (bytes.length > 0) kernels.mem_write({ address: storage.address, bytes: bytes.length }, bytes)
  storage.watch()
  return storage
}

function checkRange(source: ByteSource, offset: number, length: number): void {
  const fine = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0 && offset + length <= source.size
  if (!fine) throw damaged(`${source.label}: expected ${length} bytes at offset ${offset}, but the file ends at ${source.size}`)
}

class MemoryBytes implements ByteSource {
  readonly label = 'the model'
  readonly resident = true
  readonly size: number

  constructor(private readonly bytes: Uint8Array) {
    this.size = bytes.length
  }

  read(offset: number, length: number): Uint8Array {
    checkRange(this, offset, length)
    return this.bytes.subarray(offset, offset + length)
  }

  storageAt(offset: number, length: number): Storage {
    return storageFrom(this.read(offset, length))
  }

  close(): void {
    // nothing to give back: storages are copies
  }
}

interface Mapping {
  readonly address: number
  readonly size: number
}

const abandoned = new FinalizationRegistry<Mapping>((mapping) => kernels.mem_unmap(mapping))

/**
 * A file mapped privately: writes to a weight or buffer stay in this process. Storages hold the mapping, so that it
 * goes when the last of them is collected, or at `close`.
 */
class MappedFile implements ByteSource {
  readonly resident = false
  readonly label: string
  readonly size: number
  private mapping: Mapping | undefined

  constructor(readonly path: string) {
    this.label = path
    this.size = fileSize(path)
    if (this.size === 0) return
    this.mapping = kernels.mem_map({}, Buffer.from(`${resolve(path)}\0`))
    abandoned.register(this.mapping, { ...this.mapping }, this.mapping)
    // the file may have been replaced since it was measured
    this.size = Math.min(this.size, this.mapping.size)
  }

  read(offset: number, length: number): Uint8Array {
    checkRange(this, offset, length)
    const bytes = new Uint8Array(length)
    if (length > 0) kernels.mem_read({ address: this.open().address + offset, bytes: length }, bytes)
    return bytes
  }

  storageAt(offset: number, length: number, alignment: number): Storage {
    checkRange(this, offset, length)
    if (length === 0 || offset % alignment !== 0) return storageFrom(this.read(offset, length))
    const mapping = this.open()
    return Storage.borrow(mapping.address + offset, length, mapping)
  }

  close(): void {
    if (this.mapping === undefined) return
    abandoned.unregister(this.mapping)
    kernels.mem_unmap(this.mapping)
    this.mapping = undefined
  }

  private open(): Mapping {
    if (this.mapping === undefined) throw new PtliteError('DISPOSED', `${this.label}: the file was closed`)
    return this.mapping
  }
}

function fileSize(path: string): number {
  let stats
  try {
    stats = statSync(path)
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read the model ${path}: ${(cause as Error).message}`, { cause })
  }
  if (!stats.isFile()) throw damaged(`cannot read the model ${path}: not a file`)
  return stats.size
}
