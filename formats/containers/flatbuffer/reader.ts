import { fieldsOf } from '../../../runtime/bytes.js'
import { textOf } from '../../../runtime/encoding.js'
import { type Int, toInt } from '../../../runtime/tensor/scalar.js'
import { pace } from '../../../runtime/pace.js'
import type { ValueBudget } from '../value-budget.js'
import type { ByteSource } from '../bytes.js'
import { damaged } from '../../../program/file-error.js'

const PAGE_BYTES = 1 << 14
/** Of the largest number: pages overlap by as much, so that one page holds every number that begins in it. */
const NUMBER_BYTES = 8
/** Vectors may be shared, but no file decodes to more than this many times its size. */
const MAX_GROWTH = 8
/** Memory of an element of a list, and of a table with what is made of it. */
const ITEM_BYTES = 8
const TABLE_BYTES = 64

/** What a flatbuffer is read from: a file, or a part of one. */
export type FlatBytes = Pick<ByteSource, 'label' | 'size' | 'resident' | 'read'>

/** A vector whose elements lie inside the file. */
export interface FlatVector {
  /** Offset of the first element in the file. */
  readonly start: number
  readonly length: number
}

/**
 * Checked access to a flatbuffer: every offset is verified before it is followed, so that a damaged file ends in
 * INVALID_FILE. Of a file on disk only the pages are read that somebody looks at.
 */
export class FlatReader {
  /** Pages of a file on disk; a single one for bytes in memory. */
  private readonly pages: (DataView | undefined)[] = []
  private readonly pageBytes: number
  private readonly texts = new Map<number, string>()
  private budget: number

  /** `objects`: how many there may be, in place of the number that goes with the size of the file; `values` counts them, too. */
  constructor(
    private readonly source: FlatBytes,
    objects?: number,
    private readonly values?: ValueBudget,
    /** Some writers give a table the vtable of a shorter one that has its fields at the same places: a field may reach over the end that this says. */
    readonly sharesVtables = false,
  ) {
    this.pageBytes = source.resident ? Infinity : PAGE_BYTES
    if (source.resident) this.pages.push(fieldsOf(source.read(0, source.size)))
    this.budget = objects === undefined ? source.size * MAX_GROWTH + (1 << 20) : objects * TABLE_BYTES
  }

  root(): FlatTable {
    return this.tableAt(this.uint32(0))
  }

  tableAt(position: number): FlatTable {
    const vtable = position - this.int32(position)
    const vtableBytes = this.uint16(vtable)
    const tableBytes = this.uint16(vtable + 2)
    if (vtableBytes < 4 || vtableBytes % 2 !== 0 || tableBytes < 4) throw this.error(`no table at ${position}`)
    this.need(vtable, vtableBytes)
    this.need(position, tableBytes)
    return new FlatTable(this, position, vtable, vtableBytes, tableBytes)
  }

  /** The vector whose relative offset stands at `at`. */
  vectorAt(at: number, elementBytes: number): FlatVector {
    const position = at + this.uint32(at)
    const length = this.uint32(position)
    const start = position + 4
    if (start + length * elementBytes > this.source.size)
      throw this.error(`a vector of ${length} elements at ${position} runs over the end`)
    return { start, length }
  }

  /** Counts bytes that a vector is decoded into. */
  spend(bytes: number): void {
    pace(bytes >> 3)
    this.values?.spendBytes(bytes)
    this.budget -= bytes
    if (this.budget < 0) throw this.error('its tables repeat more data than any module has')
  }

  textAt(at: number): string {
    const { start, length } = this.vectorAt(at, 1)
    let text = this.texts.get(start)
    if (text === undefined) {
      this.spend(length)
      text = textOf(this.source.read(start, length))
      this.texts.set(start, text)
    }
    return text
  }

  /** A copy of `length` bytes. */
  copy(start: number, length: number): Uint8Array {
    this.spend(length)
    return Uint8Array.from(this.source.read(start, length))
  }

  int8(at: number): number {
    return this.page(at, 1).getInt8(this.inPage(at))
  }

  uint8(at: number): number {
    return this.page(at, 1).getUint8(this.inPage(at))
  }

  uint16(at: number): number {
    return this.page(at, 2).getUint16(this.inPage(at), true)
  }

  int32(at: number): number {
    return this.page(at, 4).getInt32(this.inPage(at), true)
  }

  uint32(at: number): number {
    return this.page(at, 4).getUint32(this.inPage(at), true)
  }

  int64(at: number): Int {
    return toInt(this.page(at, 8).getBigInt64(this.inPage(at), true))
  }

  float32(at: number): number {
    return this.page(at, 4).getFloat32(this.inPage(at), true)
  }

  float64(at: number): number {
    return this.page(at, 8).getFloat64(this.inPage(at), true)
  }

  error(message: string): Error {
    return damaged(`${this.source.label}: ${message}`)
  }

  /** Throws unless `length` bytes at `at` are in the file. */
  private need(at: number, length: number): void {
    if (!(at >= 0 && at + length <= this.source.size))
      throw this.error(`expected ${length} bytes at offset ${at}, but the file ends at ${this.source.size}`)
  }

  /** The page in which a number of `length` bytes at `at` lies. */
  private page(at: number, length: number): DataView {
    this.need(at, length)
    const index = Math.floor(at / this.pageBytes)
    const start = index * PAGE_BYTES
    return (this.pages[index] ??= fieldsOf(this.source.read(start, Math.min(PAGE_BYTES + NUMBER_BYTES, this.source.size - start))))
  }

  private inPage(at: number): number {
    return at % this.pageBytes
  }
}

/** One table. Fields are addressed by number; a field that is absent has its default. */
export class FlatTable {
  constructor(
    readonly reader: FlatReader,
    private readonly position: number,
    private readonly vtable: number,
    private readonly vtableBytes: number,
    private readonly tableBytes: number,
  ) {}

  /** Where a field of `bytes` bytes stands in the file; 0 if it is absent. */
  at(field: number, bytes: number): number {
    const entry = 4 + 2 * field
    if (entry + 2 > this.vtableBytes) return 0
    const offset = this.reader.uint16(this.vtable + entry)
    if (offset === 0) return 0
    if (offset < 4 || offset + (this.reader.sharesVtables ? 1 : bytes) > this.tableBytes)
      throw this.reader.error(`field ${field} of the table at ${this.position} is outside of it`)
    return this.position + offset
  }

  int8(field: number, missing = 0): number {
    const at = this.at(field, 1)
    return at === 0 ? missing : this.reader.int8(at)
  }

  uint8(field: number, missing = 0): number {
    const at = this.at(field, 1)
    return at === 0 ? missing : this.reader.uint8(at)
  }

  uint16(field: number, missing = 0): number {
    const at = this.at(field, 2)
    return at === 0 ? missing : this.reader.uint16(at)
  }

  int32(field: number, missing = 0): number {
    const at = this.at(field, 4)
    return at === 0 ? missing : this.reader.int32(at)
  }

  uint32(field: number, missing = 0): number {
    const at = this.at(field, 4)
    return at === 0 ? missing : this.reader.uint32(at)
  }

  int64(field: number, missing: Int = 0): Int {
    const at = this.at(field, 8)
    return at === 0 ? missing : this.reader.int64(at)
  }

  float32(field: number, missing = 0): number {
    const at = this.at(field, 4)
    return at === 0 ? missing : this.reader.float32(at)
  }

  float64(field: number, missing = 0): number {
    const at = this.at(field, 8)
    return at === 0 ? missing : this.reader.float64(at)
  }

  text(field: number): string {
    const at = this.at(field, 4)
    return at === 0 ? '' : this.reader.textAt(at)
  }

  table(field: number): FlatTable | null {
    const at = this.at(field, 4)
    return at === 0 ? null : this.reader.tableAt(at + this.reader.uint32(at))
  }

  /** Where the struct of a union field stands: struct members of unions are held by offset. */
  struct(field: number): number {
    const at = this.at(field, 4)
    if (at === 0) throw this.reader.error(`the union of the table at ${this.position} is empty`)
    return at + this.reader.uint32(at)
  }

  vector(field: number, elementBytes: number): FlatVector {
    const at = this.at(field, 4)
    return at === 0 ? { start: 0, length: 0 } : this.reader.vectorAt(at, elementBytes)
  }

  /** The elements of a vector, read one by one from their offsets. */
  list<T>(field: number, elementBytes: number, read: (at: number) => T, memory = ITEM_BYTES): T[] {
    const { start, length } = this.vector(field, elementBytes)
    this.reader.spend(length * memory)
    return Array.from({ length }, (_, i) => read(start + i * elementBytes))
  }

  uint32s(field: number): number[] {
    return this.list(field, 4, (at) => this.reader.uint32(at))
  }

  int32s(field: number): number[] {
    return this.list(field, 4, (at) => this.reader.int32(at))
  }

  texts(field: number): string[] {
    return this.list(field, 4, (at) => this.reader.textAt(at))
  }

  tables(field: number): FlatTable[] {
    return this.list(field, 4, (at) => this.reader.tableAt(at + this.reader.uint32(at)), TABLE_BYTES)
  }
}
