import { openSource } from '../../formats/containers/bytes.js'
import { crc32 } from '../../formats/containers/zip/crc32.js'
import { readDirectory } from '../../formats/containers/zip/directory.js'
import { isZip } from '../../formats/containers/zip/magic.js'

const DESCRIPTOR = 0x08074b50
const HAS_DESCRIPTOR = 8

/** Writes the checksums of all stored records of a zip anew, in the directory, local headers and data descriptors; of other files there are none. */
export function repairChecksums(zip: Buffer): void {
  const source = openSource(zip)
  if (!isZip(source)) return
  for (const entry of readDirectory(source)) {
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
