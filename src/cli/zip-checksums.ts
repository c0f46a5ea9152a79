import { openSource } from '../../runtime/module/bytes.js'
import { readDirectory } from '../../runtime/module/zip-directory.js'

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
  return n
})

/** CRC-32 as zip and zlib compute it. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}

const DESCRIPTOR = 0x08074b50
const HAS_DESCRIPTOR = 8

/** Writes the checksums of all stored records of a zip anew, in the directory, local headers and data descriptors. */
export function repairChecksums(zip: Buffer): void {
  for (const entry of readDirectory(openSource(zip))) {
    if (entry.method !== 0) continue
    const header = entry.headerOffset
    const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28)
    const end = start + entry.size
    const crc = crc32(zip.subarray(start, end))
    zip.writeUInt32LE(crc, entry.entryOffset + 16)
    if ((entry.flags & HAS_DESCRIPTOR) === 0) zip.writeUInt32LE(crc, header + 14)
    else zip.writeUInt32LE(crc, zip.readUInt32LE(end) === DESCRIPTOR ? end + 4 : end)
  }
}
