import { fieldsOf } from '../../../runtime/bytes.js'
import { textOf } from '../../../runtime/encoding.js'
import type { ByteReader } from '../bytes.js'
import { damaged } from '../../../program/file-error.js'
import { ELSEWHERE32 } from './magic.js'
import { type Place, readZip64End, readZip64Sizes } from './zip64.js'

/** One record of a zip, as the central directory tells. */
export interface ZipEntry {
  readonly name: string
  /** The bytes of the directory, and where in them the name stands. */
  readonly directory: Uint8Array
  readonly nameStart: number
  readonly nameEnd: number
  readonly flags: number
  readonly method: number
  /** CRC-32 of the inflated bytes. */
  readonly crc: number
  readonly compressedSize: number
  readonly size: number
  /** Of the local header. */
  readonly headerOffset: number
  /** Of the entry in the directory. */
  readonly entryOffset: number
  /** Where the next local header or the directory begins: the record has to end before. */
  end: number
}

export const END_RECORD = 0x06054b50
export const END_BYTES = 22
const MAX_COMMENT = 65535
export const ENTRY = 0x02014b50
export const ENTRY_BYTES = 46
const ELSEWHERE16 = 0xffff

/** The entries of a zip in directory order. Local headers are not read. Throws INVALID_FILE. */
export function readDirectory(source: ByteReader): ZipEntry[] {
  const { offset, bytes, count } = findDirectory(source)
  const directory = source.read(offset, bytes)
  const fields = fieldsOf(directory)
  const entries: ZipEntry[] = []
  let at = 0
  while (entries.length < count) {
    if (at + ENTRY_BYTES > bytes || fields.getUint32(at, true) !== ENTRY)
      throw damaged(`no entry ${entries.length} of ${count} in the zip directory`)
    const nameStart = at + ENTRY_BYTES
    const nameEnd = nameStart + fields.getUint16(at + 28, true)
    const extraEnd = nameEnd + fields.getUint16(at + 30, true)
    let size = fields.getUint32(at + 24, true)
    let compressedSize = fields.getUint32(at + 20, true)
    let headerOffset = fields.getUint32(at + 42, true)
    if (size === ELSEWHERE32 || compressedSize === ELSEWHERE32 || headerOffset === ELSEWHERE32) {
      const sizes = [size, compressedSize, headerOffset]
      readZip64Sizes(fieldsOf(directory.subarray(nameEnd, extraEnd)), sizes)
      ;[size, compressedSize, headerOffset] = sizes as [number, number, number]
    }
    entries.push({
      name: textOf(directory.subarray(nameStart, nameEnd)),
      directory,
      nameStart,
      nameEnd,
      flags: fields.getUint16(at + 8, true),
      method: fields.getUint16(at + 10, true),
      crc: fields.getUint32(at + 16, true),
      compressedSize,
      size,
      headerOffset,
      entryOffset: offset + at,
      end: offset,
    })
    at = extraEnd + fields.getUint16(at + 32, true)
  }
  if (at > bytes) throw damaged('the last entry runs over the end of the zip directory')
  let end = offset
  for (const entry of [...entries].sort((a, b) => b.headerOffset - a.headerOffset)) {
    if (entry.headerOffset >= end) throw damaged(`the record ${entry.name} at ${entry.headerOffset} overlaps what begins at ${end}`)
    entry.end = end
    end = entry.headerOffset
  }
  return entries
}

function findDirectory(source: ByteReader): Place {
  const tailOffset = Math.max(source.size - END_BYTES - MAX_COMMENT, 0)
  const tail = fieldsOf(source.read(tailOffset, source.size - tailOffset))
  let at = tail.byteLength - END_BYTES
  while (at >= 0 && !(tail.getUint32(at, true) === END_RECORD && at + END_BYTES + tail.getUint16(at + 20, true) <= tail.byteLength)) at--
  if (at < 0) throw damaged('no end of a zip directory; the file is truncated or not a zip')
  const found = { count: tail.getUint16(at + 10, true), bytes: tail.getUint32(at + 12, true), offset: tail.getUint32(at + 16, true) }
  const elsewhere = found.count === ELSEWHERE16 || found.bytes === ELSEWHERE32 || found.offset === ELSEWHERE32
  const zip64 = elsewhere ? readZip64End(source, tailOffset + at) : null
  const place = zip64 ?? found
  const parts = [tail.getUint16(at + 4, true), tail.getUint16(at + 6, true)]
  const here = tail.getUint16(at + 8, true)
  if (parts.some((part) => part !== 0 && part !== ELSEWHERE16) || (here !== found.count && here !== ELSEWHERE16))
    throw damaged('the zip is one of several parts')
  const end = zip64?.endOffset ?? tailOffset + at
  if (!(place.offset + place.bytes <= end))
    throw damaged(`the zip directory of ${place.bytes} bytes at ${place.offset} runs over its end at ${end}`)
  return place
}
