import { hashOf, hashAt } from '../runtime/tensor/hash.js'
import { fieldsOf } from '../runtime/bytes.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import { isZip } from '../formats/containers/zip/magic.js'
import { readDirectory } from '../formats/containers/zip/directory.js'
import { PtliteError } from '../runtime/error.js'

/** Of an entry of a zip's directory, where the CRC-32 of its record stands. */
const CRC_OFFSET = 16

/**
 * Tells a model file from others of its size: XXH64, in hexadecimal, of a zip's directory, which has the size and CRC-32 of each record, and of
 * all bytes of any other file. A zip that states no CRC-32 counts as any other file. Not meant against those who forge files.
 */
export function fingerprintOf(source: ByteSource): string {
  const start = directoryStart(source)
  if (start !== null) return `directory ${hex(hashOf(source.read(start, source.size - start)))}`
  const whole = source.storageAt(0, source.size, 1)
  return `bytes ${hex(hashAt(whole.address, source.size))}`
}

const hex = (hash: bigint): string => hash.toString(16).padStart(16, '0')

/** Where the directory of a zip begins; null where there is none that tells contents apart. */
function directoryStart(source: ByteSource): number | null {
  if (!isZip(source)) return null
  try {
    const entries = readDirectory(source)
    const start = Math.min(...entries.map((entry) => entry.entryOffset))
    const fields = fieldsOf(source.read(start, source.size - start))
    const isStated = entries.every(({ size, entryOffset }) => size === 0 || fields.getUint32(entryOffset - start + CRC_OFFSET, true) !== 0)
    return isStated ? start : null
  } catch (error) {
    if (error instanceof PtliteError) return null
    throw error
  }
}
