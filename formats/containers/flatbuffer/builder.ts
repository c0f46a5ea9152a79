import { Builder, type Offset } from 'flatbuffers'
import { unsupported } from '../../../program/file-error.js'

/** Storages begin at multiples of this, as PyTorch writes them. */
const STORAGE_ALIGNMENT = 16
/** What the size of a flatbuffer fits in. */
const MAX_BYTES = 2 ** 31 - 1
/** For everything that is no storage, to begin with. */
const TABLE_BYTES = 1 << 16
/** Sizes from which the builder could not double any more. */
const LARGE = 2 ** 29
/** Room for tables beside storages that are that large. */
const ROOM = 2 ** 27

/** Writes fields of a table, or numbers of a struct: these last one first, since flatbuffers are written backwards. */
type Write = (b: Builder) => void

/** Writes a flatbuffer: what a table refers to before the table. Throws UNSUPPORTED_FILE where it would be too large. */
export class FlatBuilder {
  private readonly builder: Builder

  /** `contentBytes`: of storages and extra files, which there is to be room for. */
  constructor(contentBytes: number) {
    const bytes = contentBytes + (contentBytes < LARGE ? TABLE_BYTES : ROOM)
    if (bytes > MAX_BYTES) throw unsupported(`a flatbuffer has at most ${MAX_BYTES} bytes; this one would have ${contentBytes} and more`)
    this.builder = new Builder(bytes)
  }

  /** A table; `add` is called with it open. */
  table(fields: number, add: Write): Offset {
    this.builder.startObject(fields)
    add(this.builder)
    return this.builder.endObject()
  }

  /** A text, which all tables with it share. */
  text(text: string): Offset {
    // the builder takes an empty one for none, and PyTorch expects one
    return text === '' ? this.builder.createString(text) : this.builder.createSharedString(text)
  }

  /** Text of any bytes. */
  content(bytes: Uint8Array): Offset {
    return this.builder.createString(bytes)
  }

  storage(bytes: Uint8Array): Offset {
    this.builder.prep(STORAGE_ALIGNMENT, bytes.length)
    return this.builder.createByteVector(bytes)
  }

  /** A struct by itself, as unions have them, of `bytes` bytes at a multiple of `alignment`. */
  struct(bytes: number, alignment: number, write: Write): Offset {
    this.builder.prep(alignment, bytes)
    write(this.builder)
    return this.builder.offset()
  }

  /** A vector of `bytes` bytes for each item, with numbers of up to `alignment` bytes. */
  vector<T>(items: readonly T[], bytes: number, write: (b: Builder, item: T) => void, alignment = bytes): Offset {
    this.builder.startVector(bytes, items.length, alignment)
    for (let i = items.length - 1; i >= 0; i--) write(this.builder, items[i]!)
    return this.builder.endVector()
  }

  offsets(items: readonly Offset[]): Offset {
    return this.vector(items, 4, (b, item) => b.addOffset(item))
  }

  texts(items: readonly string[]): Offset {
    return this.offsets(items.map((item) => this.text(item)))
  }

  int32s(items: readonly number[]): Offset {
    return this.vector(items, 4, (b, item) => b.addInt32(item))
  }

  finish(root: Offset, identifier: string): Uint8Array {
    this.builder.finish(root, identifier)
    return this.builder.asUint8Array()
  }
}
