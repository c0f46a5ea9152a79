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
      if (this.entries.has(name)) throw damaged(`${source.label}: the record ${name} is there twice`)
      this.entries.set(name, entry)
    }
  }

  names(): Iterable<string> {
    return this.entries.keys()
  }

  has(name: string): boolean {
    return this.entries.has(name)
  }

  /** The whole record, inflated where need be. */
  read(name: string): Uint8Array {
    const entry = this.entry(name)
    const bytes = this.source.read(this.dataOffset(entry), entry.compressedSize)
    return entry.method === STORED ? bytes : this.inflate(name, entry, bytes)
  }

  /** Where the bytes of a record that is not compressed lie in the file; null for a compressed one. */
  locate(name: string): { offset: number; length: number } | null {
    const entry = this.entry(name)
    return entry.method === STORED ? { offset: this.dataOffset(entry), length: entry.size } : null
  }

  private entry(name: string): ZipEntry {
    const entry = this.entries.get(name)
    if (entry === undefined) throw damaged(`${this.source.label}: the record ${name} is missing`)
    if ((entry.flags & 1) !== 0) throw unsupported(`${this.source.label}: the record ${name} is encrypted`)
    if (entry.method !== STORED && entry.method !== DEFLATED) {
      throw unsupported(`${this.source.label}: the record ${name} is compressed by method ${entry.method}; expected stored or deflated`)
    }
    if (entry.method === STORED && entry.size !== entry.compressedSize) {
      throw damaged(`${this.source.label}: the record ${name} is stored, yet has two sizes: ${entry.size} and ${entry.compressedSize}`)
    }
    return entry
  }

  /** The directory does not say where the data begin: that takes the two lengths in the local header. */
  private dataOffset(entry: ZipEntry): number {
    const header = this.source.read(entry.headerOffset, LOCAL_HEADER_BYTES)
    const view = new DataView(header.buffer, header.byteOffset, header.length)
    if (view.getUint32(0, true) !== LOCAL_HEADER)
      throw damaged(`${this.source.label}: no local header of ${entry.name} at ${entry.headerOffset}`)
    const start = entry.headerOffset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true)
    if (start + entry.compressedSize > entry.end) {
      throw damaged(
        `${this.source.label}: the record ${entry.name} of ${entry.compressedSize} bytes at ${start} runs into what follows at ${entry.end}`,
      )
    }
    return start
  }

  private inflate(name: string, entry: ZipEntry, bytes: Uint8Array): Uint8Array {
    this.inflated += entry.size
    if (entry.size > bytes.length * MAX_RATIO + 64 || this.inflated > MAX_INFLATED) {
      throw damaged(`${this.source.label}: the record ${name} claims to inflate from ${bytes.length} to ${entry.size} bytes`)
    }
    if (entry.size === 0) return new Uint8Array(0)
    let result
    try {
      result = inflateRawSync(bytes, { maxOutputLength: entry.size })
    } catch (error) {
      throw damaged(`${this.source.label}: the record ${name} does not inflate to ${entry.size} bytes (${(error as Error).message})`)
    }
    if (result.length !== entry.size)
      throw damaged(`${this.source.label}: the record ${name} inflates to ${result.length} bytes, not ${entry.size}`)
    return new Uint8Array(result.buffer, result.byteOffset, result.length)
  }
}
