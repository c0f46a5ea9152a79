import { crc32, deflateRawSync } from 'node:zlib'
import type { Random } from '../random.js'

/** A record of an archive, with what its headers say. */
export interface ZipPart {
  name: Buffer
  content: Buffer
  method: number
}

const LOCAL = 0x04034b50
const ENTRY = 0x02014b50
const END = 0x06054b50
const ZIP64_END = 0x06064b50
const ZIP64_LOCATOR = 0x07064b50
const DATA_DESCRIPTOR = 0x08
const ALIGNMENT = 64

/** The records of an archive whose directory is whole; null of any other. */
export function partsOf(bytes: Buffer): ZipPart[] | null {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end < 0 || end + 22 > bytes.length) return null
  const parts: ZipPart[] = []
  try {
    let at = bytes.readUInt32LE(end + 16)
    for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
      const nameEnd = at + 46 + bytes.readUInt16LE(at + 28)
      const header = bytes.readUInt32LE(at + 42)
      const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)
      const stored = bytes.subarray(start, start + bytes.readUInt32LE(at + 20))
      parts.push({ name: bytes.subarray(at + 46, nameEnd), content: stored, method: bytes.readUInt16LE(at + 10) })
      at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
    }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  return parts
}

/** What the writer does other than well. */
export interface ZipFaults {
  /** A field of a header: of which record (of the end of the directory where it is -1), its offset and width, and what stands there. */
  readonly fields?: readonly HeaderField[]
  readonly zip64?: boolean
  readonly descriptors?: boolean
  readonly comment?: Buffer
  /** Checksums are wrong. */
  readonly wrongSums?: boolean
}

interface HeaderField {
  readonly header: 'local' | 'entry' | 'end' | 'zip64'
  readonly record: number
  readonly offset: number
  readonly width: number
  readonly value: bigint
}

/** Writes an archive with checksums and sizes that are right, but for the faults. */
export function zipOf(parts: readonly ZipPart[], faults: ZipFaults = {}): Buffer {
  const out: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  const push = (bytes: Buffer): void => {
    out.push(bytes)
    offset += bytes.length
  }
  parts.forEach(({ name, content, method }, i) => {
    const plain = sizeOf(content, method)
    const sum = faults.wrongSums === true ? 0x12345678 : plain.sum
    const start = offset
    const padding = (ALIGNMENT - ((start + 30 + name.length + 4) % ALIGNMENT)) % ALIGNMENT
    const local = Buffer.alloc(30)
    const flags = faults.descriptors === true ? DATA_DESCRIPTOR : 0
    write(local, [LOCAL, 4], [20, 2], [flags, 2], [method, 2], [0, 4], [sum, 4], [content.length, 4], [plain.size, 4], [name.length, 2], [padding + 4, 2]) // prettier-ignore
    corrupt(local, faults, 'local', i)
    push(local)
    push(name)
    const filler = Buffer.alloc(padding + 4, 'Z')
    write(filler, [0x4246, 2], [padding, 2])
    push(filler)
    push(content)
    if (faults.descriptors === true) {
      const descriptor = Buffer.alloc(16)
      write(descriptor, [0x08074b50, 4], [sum, 4], [content.length, 4], [plain.size, 4])
      push(descriptor)
    }
    const extra = Buffer.alloc(faults.zip64 === true ? 28 : 0)
    if (faults.zip64 === true) write(extra, [1, 2], [24, 2], [plain.size, 8], [content.length, 8], [start, 8])
    const small = (value: number): number => (faults.zip64 === true ? 0xffffffff : value)
    const entry = Buffer.alloc(46)
    write(entry, [ENTRY, 4], [20, 2], [20, 2], [flags, 2], [method, 2], [0, 4], [sum, 4], [small(content.length), 4], [small(plain.size), 4], [name.length, 2], [extra.length, 2], [0, 2], [0, 2], [0, 2], [0, 4], [small(start), 4]) // prettier-ignore
    corrupt(entry, faults, 'entry', i)
    directory.push(entry, name, extra)
  })
  const place = offset
  directory.forEach(push)
  const bytes = offset - place
  if (faults.zip64 === true) {
    const end64 = Buffer.alloc(56)
    write(end64, [ZIP64_END, 4], [44, 8], [20, 2], [20, 2], [0, 4], [0, 4], [parts.length, 8], [parts.length, 8], [bytes, 8], [place, 8])
    corrupt(end64, faults, 'zip64', 0)
    const locator = Buffer.alloc(20)
    write(locator, [ZIP64_LOCATOR, 4], [0, 4], [offset, 8], [1, 4])
    corrupt(locator, faults, 'zip64', 1)
    push(end64)
    push(locator)
  }
  const comment = faults.comment ?? Buffer.alloc(0)
  const end = Buffer.alloc(22)
  const few = faults.zip64 === true ? 0xffff : parts.length & 0xffff
  write(end, [END, 4], [0, 2], [0, 2], [few, 2], [few, 2], [bytes, 4], [place, 4], [comment.length, 2])
  corrupt(end, faults, 'end', 0)
  push(end)
  push(comment)
  return Buffer.concat(out)
}

/** Size and checksum before compression; of content that does not inflate, of the content. */
function sizeOf(content: Buffer, method: number): { size: number; sum: number } {
  const known = inflated.get(content)
  if (method === 8 && known !== undefined) return { size: known.length, sum: crc32(known) }
  return { size: content.length, sum: crc32(content) }
}

/** What was deflated here. */
const inflated = new WeakMap<Buffer, Buffer>()

function deflate(content: Buffer): Buffer {
  const bytes = deflateRawSync(content)
  inflated.set(bytes, content)
  return bytes
}

function write(bytes: Buffer, ...fields: readonly (readonly [value: number, width: number])[]): void {
  let at = 0
  for (const [value, width] of fields) {
    put(bytes, at, width, BigInt(value))
    at += width
  }
}

function put(bytes: Buffer, at: number, width: number, value: bigint): void {
  for (let i = 0; i < width; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 255n)
}

function corrupt(bytes: Buffer, { fields = [] }: ZipFaults, header: HeaderField['header'], record: number): void {
  for (const field of fields) if (field.header === header && field.record === record) put(bytes, field.offset, field.width, field.value)
}

const LOCAL_FIELDS = [[0, 4], [6, 2], [8, 2], [14, 4], [18, 4], [22, 4], [26, 2], [28, 2]] as const // prettier-ignore
const ENTRY_FIELDS = [[0, 4], [8, 2], [10, 2], [16, 4], [20, 4], [24, 4], [28, 2], [30, 2], [32, 2], [42, 4]] as const // prettier-ignore
const END_FIELDS = [[0, 4], [8, 2], [10, 2], [12, 4], [16, 4], [20, 2]] as const // prettier-ignore
const ZIP64_FIELDS = [[0, 4], [24, 8], [32, 8], [40, 8], [48, 8], [8, 8]] as const // prettier-ignore

/** An archive of these records with a fault in its structure. */
export function mutateZip(parts: readonly ZipPart[], random: Random): Buffer {
  const list = parts.map((part) => ({ ...part }))
  if (list.length === 0) return zipOf(list, { zip64: true })
  const one = random.below(list.length)
  const two = random.below(list.length)
  const size = BigInt(list.reduce((sum, { content }) => sum + content.length, 0))
  const value = (): bigint => BigInt.asUintN(64, random.once(3) ? BigInt(random.below(Number(size) * 2)) : random.edge64(size))
  const field = (zip64: boolean): HeaderField => {
    const header = random.pick(zip64 ? (['local', 'entry', 'end', 'zip64'] as const) : (['local', 'entry', 'end'] as const))
    const places = { local: LOCAL_FIELDS, entry: ENTRY_FIELDS, end: END_FIELDS, zip64: ZIP64_FIELDS }[header]
    const [offset, width] = random.pick<readonly [number, number]>(places)
    const record = header === 'end' ? 0 : header === 'zip64' ? random.below(2) : one
    return { header, record, offset, width, value: value() }
  }
  switch (random.below(12)) {
    case 0:
      return zipOf([...list, { ...list[one]!, content: list[two]!.content }])
    case 1:
      return zipOf(list.filter((_, i) => i !== one))
    case 2:
      ;[list[one], list[two]] = [list[two]!, list[one]!]
      return zipOf(list)
    case 3:
      ;[list[one]!.content, list[two]!.content] = [list[two]!.content, list[one]!.content]
      return zipOf(list)
    case 4:
      list[one]!.name = renamed(list[one]!.name, random, list[two]!.name)
      return zipOf(list)
    case 5:
      for (const part of list) if (part.method === 0 && random.once(2)) Object.assign(part, { content: deflate(part.content), method: 8 })
      return zipOf(list, { descriptors: random.once(2) })
    case 6:
      return zipOf(list, { zip64: true, fields: random.once(2) ? [] : [field(true)] })
    case 7:
      return zipOf(list, { comment: Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(random.below(60), random.below(256))]) })
    case 8:
      return zipOf(list, { wrongSums: true })
    case 9:
      return zipOf(list, { zip64: true, descriptors: true, fields: [field(true), field(true)] })
    default:
      return zipOf(list, { fields: Array.from({ length: random.between(1, 2) }, () => field(false)) })
  }
}

function renamed(name: Buffer, random: Random, other: Buffer): Buffer {
  const text = name.toString()
  return Buffer.from(
    random.pick([
      '',
      other.toString(),
      `${text}/`,
      text.slice(text.indexOf('/') + 1),
      text.toUpperCase(),
      `../${text}`,
      `${text}\0`,
      text.replace('constants', 'bytecode'),
      text.replace('data/', ''),
      `${text.split('/')[0]!}/${random.pick(['data.pkl', 'bytecode.pkl', 'byteorder', 'extra/', 'extra/__proto__', 'mobile_debug_handles.pkl', 'version', '.data/version'])}`,
    ]),
  )
}
