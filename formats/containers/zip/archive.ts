import { Storage } from '../../../runtime/tensor/storage.js'
import { ByteSource } from '../bytes.js'
import { FilePart } from '../file-part.js'
import { crc32 } from './crc32.js'
import { damaged, guarded, unsupported } from '../../../program/file-error.js'
import { readDirectory, type ZipEntry } from './directory.js'
import { inflate } from './inflate.js'
import { findRecord } from './local.js'

const STORED = 0
const DEFLATED = 8
/** Bytes that are checked at a time. */
const CHUNK = 2 ** 20
/** Deflate cannot do better than this, so a larger claim is a lie. */
const MAX_RATIO = 1032
/** Inflated bytes of one archive. Writers only deflate text, a few megabytes of it. */
const MAX_INFLATED = 2 ** 30

/**
 * The records of a .ptl or .pt file. All lie below one folder whose name the first entry gives; names here are without it.
 * Records may not overlap, so what can be read is never more than the file, or MAX_INFLATED where it is deflated.
 */
export class ZipArchive {
  private readonly entries = new Map<string, ZipEntry>()
  private inflatedBytes = 0
  /** Records count once: what is not kept is inflated again. */
  private readonly inflatedNames = new Set<string>()

  /**
   * Throws INVALID_FILE where the central directory is damaged. `verify`: checksums of stored tensors are checked, too, which reads all of
   * their bytes.
   */
  constructor(
    private readonly source: ByteSource | FilePart,
    private readonly verify = false,
  ) {
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

  /** The whole record, inflated where need be. Its checksum is checked. */
  contentOf(name: string): Uint8Array {
    const { method, compressedSize, size, offset, crc } = this.placeOf(name)
    const bytes = this.source.read(offset, compressedSize)
    const content = method === STORED ? bytes : this.inflated(name, bytes, size)
    if (crc32(content) !== crc) throw otherChecksum(name)
    return content
  }

  private inflated(name: string, bytes: Uint8Array, size: number): Uint8Array {
    if (!this.inflatedNames.has(name)) this.inflatedBytes += size
    this.inflatedNames.add(name)
    if (size > bytes.length * MAX_RATIO + 64 || this.inflatedBytes > MAX_INFLATED)
      throw damaged(`the record ${name} claims to inflate from ${bytes.length} to ${size} bytes`)
    const result = guarded(`the record ${name}`, () => inflate(bytes, size))
    if (result.length !== size) throw damaged(`the record ${name} inflates to ${result.length} bytes, not ${size}`)
    return result
  }

  /** Native memory with a record, at an address that is a multiple of `alignment`. */
  storageAt(name: string, alignment: number): Storage {
    const { method, size, offset, crc } = this.placeOf(name)
    if (method !== STORED) return Storage.holding(this.contentOf(name))
    if (this.verify) this.checkStored(name, offset, size, crc)
    return this.source.storageAt(offset, size, alignment)
  }

  /** The archive that a record is, in place where that is stored. */
  archiveIn(name: string): ZipArchive {
    const { method, size, offset, crc } = this.placeOf(name)
    if (method !== STORED) return new ZipArchive(new ByteSource(name, this.contentOf(name)), this.verify)
    if (this.verify) this.checkStored(name, offset, size, crc)
    return new ZipArchive(
      this.source instanceof FilePart ? this.source.part(offset, size) : new FilePart(this.source, offset, size),
      this.verify,
    )
  }

  /** The entry of a record, and where its bytes begin. */
  private placeOf(name: string): Pick<ZipEntry, 'method' | 'size' | 'compressedSize' | 'crc'> & { readonly offset: number } {
    const entry = this.entries.get(name)
    if (entry === undefined) throw damaged(`the record ${name} is missing`)
    const { flags, method, size, compressedSize, crc } = entry
    if ((flags & 1) !== 0 || (method !== STORED && method !== DEFLATED))
      throw unsupported(`the record ${name} is encrypted, or compressed by a method other than deflate (${method})`)
    if (method === STORED && size !== compressedSize)
      throw damaged(`the record ${name} is stored, yet has two sizes: ${size} and ${compressedSize}`)
    return { method, size, compressedSize, crc, offset: findRecord(this.source, entry, name) }
  }

  /** Throws INVALID_FILE where bytes of the file are not those that were written. */
  private checkStored(name: string, offset: number, size: number, expected: number): void {
    let crc = 0
    for (let at = 0; at < size; at += CHUNK) crc = crc32(this.source.read(offset + at, Math.min(CHUNK, size - at)), crc)
    if (crc !== expected) throw otherChecksum(name)
  }
}

function otherChecksum(name: string): Error {
  return damaged(`the record ${name} is damaged: its bytes have another checksum (CRC-32) than the zip directory says`)
}
