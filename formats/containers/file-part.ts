import { damaged } from '../../program/file-error.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { ByteSource } from './bytes.js'

/** A part of a file, which is read as a file of its own: offsets count from its start. */
export class FilePart {
  constructor(
    private readonly source: ByteSource,
    private readonly start: number,
    readonly size: number,
  ) {
    if (!(start >= 0 && size >= 0 && start + size <= source.size))
      throw damaged(`expected ${size} bytes at offset ${start}, but the file ends at ${source.size}`)
  }

  static whole(source: ByteSource): FilePart {
    return new FilePart(source, 0, source.size)
  }

  get label(): string {
    return this.source.label
  }

  get resident(): boolean {
    return this.source.resident
  }

  /** Bytes for JavaScript to look at; not to be written to. Throws INVALID_FILE where they are outside of the part. */
  read(offset: number, length: number): Uint8Array {
    this.need(offset, length)
    return this.source.read(this.start + offset, length)
  }

  /** Native memory with these bytes, in place where the file is mapped and they are aligned. */
  storageAt(offset: number, length: number, alignment: number): Storage {
    this.need(offset, length)
    return this.source.storageAt(this.start + offset, length, alignment)
  }

  /** As `ByteSource.peek`, of bytes that may go on behind the part. */
  peek(offset: number, length: number): ReturnType<ByteSource['peek']> {
    this.need(offset, length)
    const { bytes, fields, start } = this.source.peek(this.start + offset, length)
    return { bytes, fields, start: start - this.start }
  }

  part(offset: number, size: number): FilePart {
    this.need(offset, size)
    return new FilePart(this.source, this.start + offset, size)
  }

  private need(offset: number, length: number): void {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size))
      throw damaged(`${this.label}: expected ${length} bytes at offset ${offset} of a part that ends at ${this.size}`)
  }
}
