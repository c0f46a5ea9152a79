import { areEqual, fieldsOf } from '../../../runtime/bytes.js'
import type { ByteReader } from '../bytes.js'
import { damaged } from '../../../program/file-error.js'
import type { ZipEntry } from './directory.js'
import { ELSEWHERE32 } from './magic.js'
import { readZip64Sizes } from './zip64.js'

export const LOCAL_HEADER = 0x04034b50
export const LOCAL_HEADER_BYTES = 30
const DESCRIPTOR = 0x08074b50
const MAX_DESCRIPTOR_BYTES = 24
/** Checksum and sizes follow the data. */
const HAS_DESCRIPTOR = 8
/** Flags that change what a record means: encrypted, with a descriptor, patched, strongly encrypted, its name in UTF-8, its header masked. */
const MEANING = 0x2869

/**
 * Where the bytes of a record begin. What stands before and behind them must be what the directory says, and end before what follows. `name` is
 * what messages call it. Throws INVALID_FILE.
 */
export function findRecord(source: ByteReader, entry: ZipEntry, name: string): number {
  const { directory, nameStart, nameEnd, flags, method, compressedSize, headerOffset, end } = entry
  const { bytes, fields, start } = source.peek(headerOffset, LOCAL_HEADER_BYTES + nameEnd - nameStart)
  const at = headerOffset - start
  if (fields.getUint32(at, true) !== LOCAL_HEADER) throw damaged(`no local header of ${name} at ${headerOffset}`)
  const nameLength = fields.getUint16(at + 26, true)
  const extraLength = fields.getUint16(at + 28, true)
  const extraOffset = headerOffset + LOCAL_HEADER_BYTES + nameLength
  const offset = extraOffset + extraLength
  if (offset + compressedSize > end)
    throw damaged(`the record ${name} of ${compressedSize} bytes at ${offset} runs into what follows at ${end}`)
  const isNamed =
    nameLength === nameEnd - nameStart &&
    areEqual(directory.subarray(nameStart, nameEnd), bytes.subarray(at + LOCAL_HEADER_BYTES, at + LOCAL_HEADER_BYTES + nameLength))
  if (!isNamed) throw differs(name, 'name')
  if (((fields.getUint16(at + 6, true) ^ flags) & MEANING) !== 0) throw differs(name, 'flags')
  if (fields.getUint16(at + 8, true) !== method) throw differs(name, 'method')
  const crc = fields.getUint32(at + 14, true)
  let stored = fields.getUint32(at + 18, true)
  let size = fields.getUint32(at + 22, true)
  if (stored === ELSEWHERE32 || size === ELSEWHERE32) {
    const sizes = [size, stored]
    readZip64Sizes(fieldsOf(source.read(extraOffset, extraLength)), sizes)
    ;[size, stored] = sizes as [number, number]
  }
  const follows = (flags & HAS_DESCRIPTOR) !== 0
  if (crc !== entry.crc && !(follows && crc === 0)) throw differs(name, 'checksum')
  if ((size !== entry.size && !(follows && size === 0)) || (stored !== compressedSize && !(follows && stored === 0)))
    throw differs(name, 'size')
  if (follows) checkDescriptor(source, entry, name, offset + compressedSize)
  return offset
}

/** Behind the data: perhaps a signature, then checksum and sizes, of 4 or of 8 bytes each. */
function checkDescriptor(source: ByteReader, entry: ZipEntry, name: string, at: number): void {
  const { crc, compressedSize, size, end } = entry
  const room = Math.min(MAX_DESCRIPTOR_BYTES, end - at)
  const { fields, start } = source.peek(at, room)
  const base = at - start
  const first = room >= 4 ? fields.getUint32(base, true) : -1
  const isAt = (from: number, width: 4 | 8): boolean => {
    if (from + 4 + 2 * width > room || fields.getUint32(base + from, true) !== crc) return false
    const number = (i: number): number => (width === 4 ? fields.getUint32(base + i, true) : Number(fields.getBigUint64(base + i, true)))
    return number(from + 4) === compressedSize && number(from + 4 + width) === size
  }
  // the first is what PyTorch writes
  const isThere = (first === DESCRIPTOR && (isAt(4, 4) || isAt(4, 8))) || isAt(0, 4) || isAt(0, 8)
  if (!isThere) throw damaged(`behind the record ${name} are not the checksum and sizes that the zip directory has of it`)
}

function differs(name: string, what: string): Error {
  return damaged(`the local header of the record ${name} has another ${what} than the zip directory`)
}
