import { concatenated, fieldsOf } from '../../../runtime/bytes.js'
import { utf8 } from '../../../runtime/encoding.js'
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
export function writeZip(records: readonly Record[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = 0
  for (const { name, content } of records) {
    const text = utf8(name)
    const padding = -(at + LOCAL_HEADER_BYTES + text.length + EXTRA_HEAD) & (ALIGNMENT - 1)
    const bytes = Math.min(content.length, MAX_BYTES)
    const crc = crc32(content)
    /** What a header has of a record, from its checksum on. */
    const describe = (fields: DataView, start: number): void => {
      fields.setUint32(start, crc, true)
      fields.setUint32(start + 4, bytes, true)
      fields.setUint32(start + 8, bytes, true)
      fields.setUint16(start + 12, text.length, true)
    }
    const local = new Uint8Array(LOCAL_HEADER_BYTES + text.length + EXTRA_HEAD + padding)
    const header = fieldsOf(local)
    header.setUint32(0, LOCAL_HEADER, true)
    describe(header, 14)
    header.setUint16(28, EXTRA_HEAD + padding, true)
    local.set(text, LOCAL_HEADER_BYTES)
    header.setUint16(LOCAL_HEADER_BYTES + text.length, PADDING, true)
    header.setUint16(LOCAL_HEADER_BYTES + text.length + 2, padding, true)
    const central = new Uint8Array(ENTRY_BYTES + text.length)
    const entry = fieldsOf(central)
    entry.setUint32(0, ENTRY, true)
    describe(entry, 16)
    entry.setUint32(42, Math.min(at, MAX_BYTES), true)
    central.set(text, ENTRY_BYTES)
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
  const end = new DataView(new ArrayBuffer(END_BYTES))
  end.setUint32(0, END_RECORD, true)
  end.setUint16(8, records.length, true)
  end.setUint16(10, records.length, true)
  end.setUint32(12, size, true)
  end.setUint32(16, at, true)
  return concatenated([...parts, ...directory, new Uint8Array(end.buffer)])
}
