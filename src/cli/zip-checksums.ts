import { openSource } from '../../formats/containers/bytes.js'
import { crc32 } from '../../formats/containers/zip/crc32.js'
import { readDirectory } from '../../formats/containers/zip/directory.js'

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
