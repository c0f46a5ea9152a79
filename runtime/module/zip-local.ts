import type { ByteSource } from './bytes.js'
import { damaged } from './file-error.js'
import { readZip64Sizes, type ZipEntry } from './zip-directory.js'

const LOCAL_HEADER = 0x04034b50
const LOCAL_HEADER_BYTES = 30
const DESCRIPTOR = 0x08074b50
const MOST_DESCRIPTOR_BYTES = 24
/** In a 32-bit field: the number is in an extra field. */
const ELSEWHERE32 = 0xffffffff
/** Checksum and sizes follow the data. */
const HAS_DESCRIPTOR = 8
/** Flags that change what a record means: encrypted, with a descriptor, patched, strongly encrypted, its name in UTF-8, its header masked. */
const MEANING = 0x2869

/**
 * Where the bytes of a record begin. What stands before and behind them must be what the directory says, and end before what follows. `name` is
 * what messages call it. Throws INVALID_FILE.
 */
export function findRecord(source: ByteSource, entry: ZipEntry, name: string): number {
  const { rawName, flags, method, compressedSize, headerOffset, end } = entry
  const header = source.peek(headerOffset, LOCAL_HEADER_BYTES + rawName.length)
  if (header.readUInt32LE(0) !== LOCAL_HEADER) throw damaged(`no local header of ${name} at ${headerOffset}`)
  const nameLength = header.readUInt16LE(26)
  const extraLength = header.readUInt16LE(28)
  const extraOffset = headerOffset + LOCAL_HEADER_BYTES + nameLength
  const offset = extraOffset + extraLength
  if (offset + compressedSize > end)
    throw damaged(`the record ${name} of ${compressedSize} bytes at ${offset} runs into what follows at ${end}`)
  if (nameLength !== rawName.length || rawName.compare(header, LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + nameLength) !== 0)
    throw differs(name, 'name')
  if (((header.readUInt16LE(6) ^ flags) & MEANING) !== 0) throw differs(name, 'flags')
  if (header.readUInt16LE(8) !== method) throw differs(name, 'method')
  const crc = header.readUInt32LE(14)
  const sizes = [header.readUInt32LE(22), header.readUInt32LE(18)]
  if (sizes.includes(ELSEWHERE32)) readZip64Sizes(source.read(extraOffset, extraLength), sizes)
  const follows = (flags & HAS_DESCRIPTOR) !== 0
  const agrees = (found: number, stated: number): boolean => found === stated || (follows && found === 0)
  if (!agrees(crc, entry.crc)) throw differs(name, 'checksum')
  if (!agrees(sizes[0]!, entry.size) || !agrees(sizes[1]!, compressedSize)) throw differs(name, 'size')
  if (follows) checkDescriptor(source, entry, name, offset + compressedSize)
  return offset
}

/** Behind the data: perhaps a signature, then checksum and sizes, of 4 or of 8 bytes each. */
function checkDescriptor(source: ByteSource, entry: ZipEntry, name: string, at: number): void {
  const bytes = source.peek(at, Math.min(MOST_DESCRIPTOR_BYTES, entry.end - at))
  const isAt = (from: number, width: 4 | 8): boolean => {
    if (from + 4 + 2 * width > bytes.length || bytes.readUInt32LE(from) !== entry.crc) return false
    const number = (i: number): number => (width === 4 ? bytes.readUInt32LE(i) : Number(bytes.readBigUInt64LE(i)))
    return number(from + 4) === entry.compressedSize && number(from + 4 + width) === entry.size
  }
  const isSigned = bytes.length >= 4 && bytes.readUInt32LE(0) === DESCRIPTOR
  const isThere = (isSigned && (isAt(4, 4) || isAt(4, 8))) || isAt(0, 4) || isAt(0, 8)
  if (!isThere) throw damaged(`behind the record ${name} are not the checksum and sizes that the zip directory has of it`)
}

function differs(name: string, what: string): Error {
  return damaged(`the local header of the record ${name} has another ${what} than the zip directory`)
}
