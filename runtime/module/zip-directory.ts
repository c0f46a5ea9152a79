import type { ByteSource } from './bytes.js'
import { damaged } from './file-error.js'

/** One record of a zip, as the central directory tells. */
export interface ZipEntry {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly compressedSize: number
  readonly size: number
  /** Of the local header. */
  readonly headerOffset: number
  /** Of the entry in the directory. */
  readonly entryOffset: number
  /** Where the next local header or the directory begins: the record has to end before. */
  end: number
}

const END_RECORD = 0x06054b50
const END_BYTES = 22
const MAX_COMMENT = 65535
const ZIP64_LOCATOR = 0x07064b50
const ZIP64_LOCATOR_BYTES = 20
const ZIP64_END = 0x06064b50
const ZIP64_END_BYTES = 56
const ZIP64_EXTRA = 1
const ENTRY = 0x02014b50
const ENTRY_BYTES = 46
/** In a 32-bit field: the number is in the zip64 record. */
const ELSEWHERE32 = 0xffffffff
const ELSEWHERE16 = 0xffff

/** The entries of a zip in directory order. Local headers are not read. Throws INVALID_FILE. */
export function readDirectory(source: ByteSource): ZipEntry[] {
  const { offset, bytes, count } = findDirectory(source)
  const directory = source.read(offset, bytes)
  const view = viewOf(directory)
  const text = new TextDecoder()
  const entries: ZipEntry[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > bytes || view.getUint32(at, true) !== ENTRY) {
      throw damaged(`${source.label}: expected entry ${i} of ${count} in the zip directory, found something else`)
    }
    const nameBytes = view.getUint16(at + 28, true)
    const extraBytes = view.getUint16(at + 30, true)
    const next = at + ENTRY_BYTES + nameBytes + extraBytes + view.getUint16(at + 32, true)
    if (next > bytes) throw damaged(`${source.label}: entry ${i} runs over the end of the zip directory`)
    const name = text.decode(directory.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes))
    const extra = directory.subarray(at + ENTRY_BYTES + nameBytes, at + ENTRY_BYTES + nameBytes + extraBytes)
    const fields = {
      size: view.getUint32(at + 24, true),
      compressedSize: view.getUint32(at + 20, true),
      headerOffset: view.getUint32(at + 42, true),
    }
    applyZip64(source, name, extra, fields)
    if (fields.headerOffset >= offset) throw damaged(`${source.label}: the record ${name} starts at ${fields.headerOffset}, past the data`)
    entries.push({
      name,
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      ...fields,
      entryOffset: offset + at,
      end: offset,
    })
    at = next
  }
  setEnds(source, entries)
  return entries
}

function findDirectory(source: ByteSource): { offset: number; bytes: number; count: number } {
  const tailBytes = Math.min(source.size, END_BYTES + MAX_COMMENT)
  const tailOffset = source.size - tailBytes
  const tail = viewOf(source.read(tailOffset, tailBytes))
  let at = tailBytes - END_BYTES
  while (at >= 0 && !(tail.getUint32(at, true) === END_RECORD && at + END_BYTES + tail.getUint16(at + 20, true) <= tailBytes)) at--
  if (at < 0) throw damaged(`${source.label}: no end of a zip directory; the file is truncated or not a zip`)
  const found = { count: tail.getUint16(at + 10, true), bytes: tail.getUint32(at + 12, true), offset: tail.getUint32(at + 16, true) }
  if (found.count === ELSEWHERE16 || found.bytes === ELSEWHERE32 || found.offset === ELSEWHERE32) {
    return checkedDirectory(source, readZip64End(source, tailOffset + at) ?? found)
  }
  return checkedDirectory(source, found)
}

function readZip64End(source: ByteSource, endOffset: number): { offset: number; bytes: number; count: number } | null {
  if (endOffset < ZIP64_LOCATOR_BYTES) return null
  const locator = viewOf(source.read(endOffset - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES))
  if (locator.getUint32(0, true) !== ZIP64_LOCATOR) return null
  const end = viewOf(source.read(Number(locator.getBigUint64(8, true)), ZIP64_END_BYTES))
  if (end.getUint32(0, true) !== ZIP64_END) throw damaged(`${source.label}: no zip64 directory record where its locator says`)
  const number = (at: number): number => Number(end.getBigUint64(at, true))
  return { count: number(32), bytes: number(40), offset: number(48) }
}

function checkedDirectory<T extends { offset: number; bytes: number; count: number }>(source: ByteSource, found: T): T {
  if (!(found.offset + found.bytes <= source.size) || found.count * ENTRY_BYTES > found.bytes) {
    throw damaged(
      `${source.label}: a zip directory of ${found.count} entries and ${found.bytes} bytes does not fit at offset ${found.offset}`,
    )
  }
  return found
}

type Fields = { size: number; compressedSize: number; headerOffset: number }

/** Numbers too large for 32 bits stand in an extra field, in this order, only those that are needed. */
function applyZip64(source: ByteSource, name: string, extra: Uint8Array, fields: Fields): void {
  const wanted = (['size', 'compressedSize', 'headerOffset'] as const).filter((key) => fields[key] === ELSEWHERE32)
  if (wanted.length === 0) return
  const view = viewOf(extra)
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64_EXTRA) continue
    const length = view.getUint16(at + 2, true)
    if (length < 8 * wanted.length || at + 4 + length > extra.length) break
    wanted.forEach((key, i) => (fields[key] = Number(view.getBigUint64(at + 4 + 8 * i, true))))
    return
  }
  throw damaged(`${source.label}: the record ${name} lacks its zip64 sizes`)
}

function setEnds(source: ByteSource, entries: readonly ZipEntry[]): void {
  const order = [...entries].sort((a, b) => a.headerOffset - b.headerOffset)
  for (let i = 0; i + 1 < order.length; i++) {
    const end = order[i + 1]!.headerOffset
    if (order[i]!.headerOffset === end) throw damaged(`${source.label}: the records ${order[i]!.name} and ${order[i + 1]!.name} overlap`)
    order[i]!.end = end
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
