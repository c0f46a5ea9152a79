import zlib from 'node:zlib'

/** Bytes from which on zlib is worth its loading, which takes as long as some hundred kilobytes of this. */
const LARGE = 2 ** 18

/** Remainders of bytes that stand 0 to 7 bytes before the end of a group, 256 each. */
let tables: Int32Array | undefined

/** CRC-32 as zip and zlib compute it; `before` is that of the bytes in front. */
export function crc32(bytes: Uint8Array, before = 0): number {
  return bytes.length < LARGE ? shortCrc32(bytes, before) : longCrc32(bytes, before)
}

/** As crc32, for much data in all. A function by itself, so that zlib is loaded with the first record that needs it. Versions of Node before 20.15 and 22.2 have no crc32. */
export function longCrc32(bytes: Uint8Array, before: number): number {
  const { crc32: own } = zlib as Partial<typeof zlib>
  return own === undefined ? shortCrc32(bytes, before) : own(bytes, before)
}

function shortCrc32(bytes: Uint8Array, before: number): number {
  const t = (tables ??= makeTables())
  const { length } = bytes
  let crc = ~before
  let i = 0
  for (; i + 8 <= length; i += 8) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    crc =
      t[0x700 | (crc & 255)]! ^
      t[0x600 | ((crc >>> 8) & 255)]! ^
      t[0x500 | ((crc >>> 16) & 255)]! ^
      t[0x400 | (crc >>> 24)]! ^
      t[0x300 | bytes[i + 4]!]! ^
      t[0x200 | bytes[i + 5]!]! ^
      t[0x100 | bytes[i + 6]!]! ^
      t[bytes[i + 7]!]!
  }
  for (; i < length; i++) crc = t[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256)
  for (let n = 0; n < 256; n++) {
    let crc = n
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
    made[n] = crc
  }
  for (let n = 256; n < made.length; n++) made[n] = made[made[n - 256]! & 255]! ^ (made[n - 256]! >>> 8)
  return made
}
