import { hashOf } from '../../../runtime/tensor/hash.js'
import { DATA_ALIGNMENT, PREAMBLE_BYTES, writePreamble } from '../../../formats/ptlc/preamble.js'
import { PLAN_MAGIC } from '../../../formats/ptlc/magic.js'

/** The parts of a .ptlc file. */
export interface Container {
  readonly header: Buffer
  readonly data: Buffer
}

/** Null where the file is none, or its parts do not lie in it. */
export function containerOf(bytes: Buffer): Container | null {
  if (bytes.length < PREAMBLE_BYTES || bytes.toString('latin1', 0, 8) !== PLAN_MAGIC) return null
  const [headerBytes, dataStart] = [bytes.readBigUInt64LE(16), bytes.readBigUInt64LE(24)]
  if (headerBytes > bytes.length || dataStart > bytes.length) return null
  const headerEnd = PREAMBLE_BYTES + Number(headerBytes)
  return { header: bytes.subarray(PREAMBLE_BYTES, headerEnd), data: bytes.subarray(Number(dataStart)) }
}

/** A file of these parts, with sums that fit. */
export function fileOf({ header, data }: Container): Buffer {
  const dataStart = Math.ceil((PREAMBLE_BYTES + header.length) / DATA_ALIGNMENT) * DATA_ALIGNMENT
  const preamble = { headerBytes: header.length, dataStart, dataBytes: data.length, headerHash: hashOf(header), dataHash: hashOf(data) }
  const gap = Buffer.alloc(dataStart - PREAMBLE_BYTES - header.length)
  return Buffer.concat([writePreamble(preamble, hashOf), header, gap, data])
}

/** Where the sum of the first bytes stands. */
const OWN_HASH = 56

/** The file with the sum of its first bytes right. */
export function withOwnHash(bytes: Buffer): Buffer {
  bytes.writeBigUInt64LE(hashOf(bytes.subarray(0, OWN_HASH)), OWN_HASH)
  return bytes
}
