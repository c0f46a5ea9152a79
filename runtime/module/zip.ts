import { inflateRawSync } from 'node:zlib'
import type { ByteSource } from './bytes.js'
import { damaged, unsupported } from './file-error.js'
import { readDirectory, type ZipEntry } from './zip-directory.js'

const LOCAL_HEADER = 0x04034b50
const LOCAL_HEADER_BYTES = 30
const STORED = 0
const DEFLATED = 8
/** Deflate cannot do better than this, so a larger claim is a lie. */
const MAX_RATIO = 1032
/** Inflated bytes of one archive. Writers only deflate text, a few megabytes of it. */
const MAX_INFLATED = 2 ** 30

/** Where a record lies in the file. */
interface Place {
  readonly entry: ZipEntry
  readonly offset: number
}

/**
 * The records of a .ptl file. All lie below one folder whose name the first entry gives; names here are without it.
 * Records may not overlap, so what can be read is never more than the file, or MAX_INFLATED where it is deflated.
 */
export class ZipArchive {
  private readonly entries = new Map<string, ZipEntry>()
  private inflated = 0

  /** Throws INVALID_FILE where the central directory is damaged. */
  constructor(private readonly source: ByteSource) {
    const entries = readDirectory(source)
    const first = entries[0]?.name ?? ''
    const top = first.slice(0, first.indexOf('/') + 1)
    for (const entry of entries) {
      if (!entry.name.startsWith(top) || entry.name.endsWith('/')) continue
      const name = entry.name.slice(top.length)
      if (this.entries.has(name)) throw damaged(`the record ${name} is there twice`)
      this.entries.set(name, entry)
    }
  }

  names(): string[] {
    return [...this.entries.keys()]
  }

  has(name: string): boolean {
    return this.entries.has(name)
  }

  /** The whole record, inflated where need be. */
  read(name: string): Uint8Array {
    const { entry, offset } = this.placeOf(name)
    const bytes = this.source.read(offset, entry.compressedSize)
    return entry.method === STORED ? bytes : this.inflate(entry, bytes)
  }

  /** Where the bytes of a record that is not compressed lie in the file; null for a compressed one. */
  locate(name: string): { offset: number; length: number } | null {
    const { entry, offset } = this.placeOf(name)
    return entry.method === STORED ? { offset, length: entry.size } : null
  }

  /** The directory does not say where the data begin: that takes the two lengths in the local header. */
  private placeOf(name: string): Place {
    const entry = this.entries.get(name)
    if (entry === undefined) throw damaged(`the record ${name} is missing`)
    const { flags, method, size, compressedSize, headerOffset, end } = entry
    if ((flags & 1) !== 0 || (method !== STORED && method !== DEFLATED))
      throw unsupported(`the record ${name} is encrypted, or compressed by a method other than deflate (${method})`)
    if (method === STORED && size !== compressedSize)
      throw damaged(`the record ${name} is stored, yet has two sizes: ${size} and ${compressedSize}`)
    const header = this.source.read(headerOffset, LOCAL_HEADER_BYTES)
    const view = new DataView(header.buffer, header.byteOffset)
    if (view.getUint32(0, true) !== LOCAL_HEADER) throw damaged(`no local header of ${name} at ${headerOffset}`)
    const offset = headerOffset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true)
    if (offset + compressedSize > end)
      throw damaged(`the record ${name} of ${compressedSize} bytes at ${offset} runs into what follows at ${end}`)
    return { entry, offset }
  }

  private inflate({ name, size }: ZipEntry, bytes: Uint8Array): Uint8Array {
    this.inflated += size
    if (size > bytes.length * MAX_RATIO + 64 || this.inflated > MAX_INFLATED)
      throw damaged(`the record ${name} claims to inflate from ${bytes.length} to ${size} bytes`)
    if (size === 0) return new Uint8Array(0)
    let result
    try {
      result = inflateRawSync(bytes, { maxOutputLength: size })
    } catch (error) {
      throw damaged(`the record ${name} does not inflate to ${size} bytes (${(error as Error).message})`)
    }
    if (result.length !== size) throw damaged(`the record ${name} inflates to ${result.length} bytes, not ${size}`)
    return new Uint8Array(result.buffer, result.byteOffset, result.length)
  }
}
