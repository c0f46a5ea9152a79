import { latin1TextOf } from '../../runtime/encoding.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { damaged, unsupported } from '../../program/file-error.js'
import type { ZipArchive } from '../containers/zip/archive.js'
import { scalarTypeSize } from './tensor-pool.js'

const EXTRA = 'extra/'
/** What elements of any type need: tensors of several may view one storage. */
const ALIGNMENT = 8

/** A short record that is text. */
export function shortText(zip: ZipArchive, record: string): string {
  return latin1TextOf(zip.contentOf(record).subarray(0, 40)).trim()
}

/** Throws UNSUPPORTED_FILE where the bytes of storages are in another order than this processor's. */
export function checkByteOrder(zip: ZipArchive): void {
  // newer files say in which order the bytes of their storages are
  const order = zip.holds('byteorder') ? shortText(zip, 'byteorder') : 'little'
  if (order !== 'little') throw unsupported(`expected storages in little-endian byte order, found '${order}'`)
}

/** The version of the operators' meanings that the archive was written with. */
export function operatorVersionOf(zip: ZipArchive): number {
  const version = shortText(zip, zip.holds('.data/version') ? '.data/version' : 'version')
  if (!/^\d{1,9}$/.test(version)) throw damaged(`operator version: expected a number, found '${version}'`)
  return Number(version)
}

/** The extra files of an archive, by name without `extra/`. */
export function extraFilesOf(zip: ZipArchive): Map<string, Uint8Array> {
  const names = zip.recordNames().filter((name) => name.startsWith(EXTRA) && name !== EXTRA)
  return new Map(names.map((name) => [name.slice(EXTRA.length), Uint8Array.from(zip.contentOf(name))]))
}

/** Gives the storages of an archive by record, each at least `count` elements long: a record that is named twice is one storage. */
export function storagesOf(zip: ZipArchive): (record: string, scalarType: number, count: number) => Storage {
  const known = new Map<string, Storage>()
  return (record, scalarType, count) => {
    const itemSize = scalarTypeSize(scalarType) ?? 1
    let storage = known.get(record)
    if (storage === undefined) {
      // records of empty storages may be absent
      storage = count === 0 && !zip.holds(record) ? Storage.holding(new Uint8Array(0)) : zip.storageAt(record, ALIGNMENT)
      known.set(record, storage)
    }
    if (count * itemSize > storage.byteLength)
      throw damaged(`expected ${count * itemSize} bytes in the record ${record}, found ${storage.byteLength}`)
    return storage
  }
}
