import { PtliteError } from '../../../runtime/error.js'
import { crc32 } from './crc32.js'
import { END_BYTES, END_RECORD, ENTRY, ENTRY_BYTES } from './directory.js'
import { ELSEWHERE32 as MAX_BYTES } from './magic.js'
import { LOCAL_HEADER, LOCAL_HEADER_BYTES } from './local.js'

export interface Record {
  readonly name: string
  readonly content: Uint8Array
}

/** Storages begin at multiples of this, so that they can be used where a file is mapped; so does PyTorch write them. */
const ALIGNMENT = 64
/** Of an extra field: its number and length. */
const EXTRA_HEAD = 4
const PADDING = 0x4246

/** A zip archive of stored records, in their order. Throws UNSUPPORTED_FILE beyond 4 GB. */
export function writeZip(records: readonly Record[]): Buffer {
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = 0
  for (const { name, content } of records) {
    const text = Buffer.from(name)
    const padding = -(at + LOCAL_HEADER_BYTES + text.length + EXTRA_HEAD) & (ALIGNMENT - 1)
    const fields = Buffer.alloc(26)
    fields.writeUInt32LE(crc32(content), 10)
    const bytes = Math.min(content.length, MAX_BYTES)
    fields.writeUInt32LE(bytes, 14)
    fields.writeUInt32LE(bytes, 18)
    fields.writeUInt16LE(text.length, 22)
    const local = Buffer.alloc(LOCAL_HEADER_BYTES + text.length + EXTRA_HEAD + padding)
    local.writeUInt32LE(LOCAL_HEADER, 0)
    fields.copy(local, 4)
    local.writeUInt16LE(EXTRA_HEAD + padding, 28)
    text.copy(local, LOCAL_HEADER_BYTES)
    local.writeUInt16LE(PADDING, LOCAL_HEADER_BYTES + text.length)
    local.writeUInt16LE(padding, LOCAL_HEADER_BYTES + text.length + 2)
    const central = Buffer.alloc(ENTRY_BYTES + text.length)
    central.writeUInt32LE(ENTRY, 0)
    fields.copy(central, 6)
    central.writeUInt32LE(Math.min(at, MAX_BYTES), 42)
    text.copy(central, ENTRY_BYTES)
    parts.push(local, content)
    directory.push(central)
    at += local.length + content.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  if (at + size + END_BYTES > MAX_BYTES || records.length >= 65535)
    throw new PtliteError(
      'UNSUPPORTED_FILE',
      `the file would have ${at + size + END_BYTES} bytes in ${records.length} records; expected at most ${MAX_BYTES} in 65534`,
    )
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(END_RECORD, 0)
  end.writeUInt16LE(records.length, 8)
  end.writeUInt16LE(records.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...directory, end])
}
