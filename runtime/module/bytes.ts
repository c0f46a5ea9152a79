import { statSync } from 'node:fs'
import { types } from 'node:util'
import { PtliteError } from '../error.js'
import * as kernels from '../native/generated/kernels.js'
import { Storage } from '../tensor/storage.js'
import { damaged } from './file-error.js'

interface Mapping {
  readonly address: number
  readonly size: number
}

const abandoned = new FinalizationRegistry<Mapping>((mapping) => kernels.mem_unmap(mapping))

/** Opens a path or bytes in memory. Throws INVALID_FILE where there is no such file. */
export function openSource(file: string | Uint8Array | ArrayBuffer): ByteSource {
  // not instanceof: the buffer may come from another realm
  if (types.isArrayBuffer(file)) return new ByteSource('the model', Buffer.from(file))
  if (types.isUint8Array(file)) return new ByteSource('the model', Buffer.from(file.buffer, file.byteOffset, file.length))
  if (typeof file !== 'string')
    throw new PtliteError('INVALID_ARGUMENT', `expected a path, a Uint8Array or an ArrayBuffer, found ${typeof file}`)
  let stats
  try {
    stats = statSync(file)
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read the model ${file}: ${(cause as Error).message}`, { cause })
  }
  if (!stats.isFile()) throw damaged(`cannot read the model ${file}: not a file`)
  if (stats.size === 0) return new ByteSource(file, Buffer.alloc(0), file)
  const mapping = kernels.mem_map({}, Buffer.from(`${file}\0`))
  abandoned.register(mapping, { ...mapping }, mapping)
  return new ByteSource(file, mapping, file)
}

/**
 * The bytes of a model file. A file on disk is mapped privately: writes to a weight or buffer stay in this process. Storages hold the
 * mapping, so that it goes when the last of them is collected, or at `close`.
 */
export class ByteSource {
  readonly size: number

  constructor(
    /** How messages name the file. */
    readonly label: string,
    private memory: Buffer | Mapping | undefined,
    /** Of a file on disk. */
    readonly path?: string,
  ) {
    this.size = memory instanceof Uint8Array ? memory.length : memory!.size
  }

  /** True where `read` costs no copy. */
  get resident(): boolean {
    return this.memory instanceof Uint8Array
  }

  /** The first bytes, which tell what a file is. */
  get head(): Buffer {
    return this.read(0, Math.min(8, this.size))
  }

  /** Bytes for JavaScript to look at; not to be written to. Throws INVALID_FILE where they are outside of the file. */
  read(offset: number, length: number): Buffer {
    const memory = this.reach(offset, length)
    if (memory instanceof Uint8Array) return memory.subarray(offset, offset + length)
    const bytes = Buffer.allocUnsafeSlow(length)
    if (length > 0) kernels.mem_read({ address: memory.address + offset, bytes: length }, bytes)
    return bytes
  }

  /** Native memory with these bytes, at an address that is a multiple of `alignment`: in place where the file is mapped. */
  storageAt(offset: number, length: number, alignment: number): Storage {
    const memory = this.reach(offset, length)
    return memory instanceof Uint8Array || length === 0 || offset % alignment !== 0
      ? Storage.holding(this.read(offset, length))
      : Storage.borrow(memory.address + offset, length, memory)
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
  private reach(offset: number, length: number): Buffer | Mapping {
    const { label, size, memory } = this
    if (memory === undefined) throw new PtliteError('DISPOSED', `${label}: the file was closed`)
    if (!(offset >= 0 && length >= 0 && offset + length <= size))
      throw damaged(`${label}: expected ${length} bytes at offset ${offset}, but the file ends at ${size}`)
    return memory
  }
}
