import { inflateRawSync } from 'node:zlib'
import { Storage } from '../tensor/storage.js'
import type { ByteSource } from './bytes.js'
import { damaged, guarded, unsupported } from './file-error.js'
import { readDirectory, type ZipEntry } from './zip-directory.js'

const LOCAL_HEADER = 0x04034b50
const LOCAL_HEADER_BYTES = 30
const STORED = 0
const DEFLATED = 8
/** Deflate cannot do better than this, so a larger claim is a lie. */
const MAX_RATIO = 1032
/** Inflated bytes of one archive. Writers only deflate text, a few megabytes of it. */
const MAX_INFLATED = 2 ** 30

/**
 * The records of a .ptl file. All lie below one folder whose name the first entry gives; names here are without it.
 * Records may not overlap, so what can be read is never more than the file, or MAX_INFLATED where it is deflated.
 */
export class ZipArchive {
  private readonly entries = new Map<string, ZipEntry>()
  private inflated = 0

  /** Throws INVALID_FILE where the central directory is damaged. */
  constructor(private readonly source: ByteSource) {
    let top: string | undefined
    for (const entry of readDirectory(source)) {
      top ??= entry.name.slice(0, entry.name.indexOf('/') + 1)
      if (!entry.name.startsWith(top) || entry.name.endsWith('/')) continue
      const name = entry.name.slice(top.length)
      if (this.entries.has(name)) throw damaged(`the record ${name} is there twice`)
      this.entries.set(name, entry)
    }
  }

  recordNames(): string[] {
    return [...this.entries.keys()]
  }

  holds(name: string): boolean {
    return this.entries.has(name)
  }

  /** The whole record, inflated where need be. */
  contentOf(name: string): Buffer {
    const { method, compressedSize, size, offset } = this.placeOf(name)
    const bytes = this.source.read(offset, compressedSize)
    if (method === STORED) return bytes
    this.inflated += size
    if (size > bytes.length * MAX_RATIO + 64 || this.inflated > MAX_INFLATED)
      throw damaged(`the record ${name} claims to inflate from ${bytes.length} to ${size} bytes`)
    const result = guarded(`the record ${name}`, () => inflate(bytes, size))
    if (result.length !== size) throw damaged(`the record ${name} inflates to ${result.length} bytes, not ${size}`)
    return result
  }

  /** Native memory with a record, at an address that is a multiple of `alignment`. */
  storageAt(name: string, alignment: number): Storage {
    const { method, size, offset } = this.placeOf(name)
    return method === STORED ? this.source.storageAt(offset, size, alignment) : Storage.holding(this.contentOf(name))
  }

  /** The entry of a record, and where its bytes begin: that takes the two lengths in the local header, which the directory does not say. */
  private placeOf(name: string): Pick<ZipEntry, 'method' | 'size' | 'compressedSize'> & { readonly offset: number } {
    const entry = this.entries.get(name)
    if (entry === undefined) throw damaged(`the record ${name} is missing`)
    const { flags, method, size, compressedSize, headerOffset, end } = entry
    if ((flags & 1) !== 0 || (method !== STORED && method !== DEFLATED))
      throw unsupported(`the record ${name} is encrypted, or compressed by a method other than deflate (${method})`)
    if (method === STORED && size !== compressedSize)
      throw damaged(`the record ${name} is stored, yet has two sizes: ${size} and ${compressedSize}`)
    const header = this.source.read(headerOffset, LOCAL_HEADER_BYTES)
    if (header.readUInt32LE(0) !== LOCAL_HEADER) throw damaged(`no local header of ${name} at ${headerOffset}`)
    const offset = headerOffset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
    if (offset + compressedSize > end)
      throw damaged(`the record ${name} of ${compressedSize} bytes at ${offset} runs into what follows at ${end}`)
    return { method, size, compressedSize, offset }
  }
}

/** A function by itself, so that zlib is loaded with the first record that needs it. */
function inflate(bytes: Buffer, size: number): Buffer {
  return inflateRawSync(bytes, { maxOutputLength: size || 1 })
}
