import { deflateRawSync } from 'node:zlib'
import { crc32 } from '../../formats/containers/zip/crc32.js'

export interface ZipRecord {
  readonly name: string
  readonly data: Uint8Array
  readonly deflate?: boolean
  /** Sizes of the local header are 0 and follow the data. */
  readonly descriptor?: boolean
  readonly zip64?: boolean
  /** What the directory claims instead of the truth. */
  readonly claims?: {
    readonly size?: number
    readonly method?: number
    readonly flags?: number
    readonly headerOffset?: number
    readonly stored?: number
    readonly crc?: number
  }
  /** What the local header says instead of what the directory does. */
  readonly local?: {
    readonly name?: string
    readonly size?: number
    readonly method?: number
    readonly flags?: number
    readonly crc?: number
  }
  /** Bytes behind the data in place of a descriptor. */
  readonly behind?: Uint8Array
}

/** Writes a zip file of these records. */
export function zip(records: readonly ZipRecord[], options: { readonly zip64?: boolean; readonly comment?: string } = {}): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  const push = (buffer: Buffer): void => {
    parts.push(buffer)
    offset += buffer.length
  }
  for (const record of records) {
    const name = Buffer.from(record.name)
    const data = Buffer.from(record.deflate === true ? deflateRawSync(record.data) : record.data)
    const method = record.claims?.method ?? (record.deflate === true ? 8 : 0)
    const flags = record.claims?.flags ?? (record.descriptor === true ? 0x0808 : 0x0800)
    const headerOffset = offset
    const known = record.descriptor !== true
    const crc = record.claims?.crc ?? crc32(record.data)
    const { local = {} } = record
    const localName = Buffer.from(local.name ?? record.name)
    push(
      fields(
        [4, 0x04034b50],
        [2, 20],
        [2, local.flags ?? flags],
        [2, local.method ?? method],
        [4, 0],
        [4, local.crc ?? (known ? crc : 0)],
        [4, known ? data.length : 0],
        [4, local.size ?? (known ? record.data.length : 0)],
        [2, localName.length],
        [2, 3],
      ),
    )
    push(localName)
    push(Buffer.from('pad'))
    push(data)
    if (record.behind !== undefined) push(Buffer.from(record.behind))
    else if (!known) push(fields([4, 0x08074b50], [4, crc], [4, data.length], [4, record.data.length]))
    const size = record.claims?.size ?? record.data.length
    const stored = record.claims?.stored ?? data.length
    const at = record.claims?.headerOffset ?? headerOffset
    const extra = record.zip64 === true ? fields([2, 1], [2, 24], [8, size], [8, stored], [8, at]) : Buffer.alloc(0)
    const small = (value: number): number => (record.zip64 === true ? 0xffffffff : value)
    directory.push(
      fields([4, 0x02014b50], [2, 20], [2, 20], [2, flags], [2, method], [4, 0], [4, crc], [4, small(stored)], [4, small(size)], [2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, 0], [4, small(at)]),
      name,
      extra,
    ) // prettier-ignore
  }
  const start = offset
  for (const entry of directory) push(entry)
  const bytes = offset - start
  const comment = Buffer.from(options.comment ?? '')
  if (options.zip64 === true) {
    const end = offset
    push(
      fields([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, records.length], [8, records.length], [8, bytes], [8, start]),
    )
    push(fields([4, 0x07064b50], [4, 0], [8, end], [4, 1]))
    push(fields([4, 0x06054b50], [2, 0], [2, 0], [2, 0xffff], [2, 0xffff], [4, 0xffffffff], [4, 0xffffffff], [2, comment.length]))
  } else {
    push(fields([4, 0x06054b50], [2, 0], [2, 0], [2, records.length], [2, records.length], [4, bytes], [4, start], [2, comment.length]))
  }
  push(comment)
  return new Uint8Array(Buffer.concat(parts))
}

/** Numbers of 2, 4 or 8 bytes, one behind the other. */
export function fields(...values: readonly (readonly [bytes: number, value: number])[]): Buffer {
  return Buffer.concat(
    values.map(([bytes, value]) => {
      const buffer = Buffer.alloc(bytes)
      if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value))
      else buffer.writeUIntLE(value, 0, bytes)
      return buffer
    }),
  )
}
