/* Numbers of zips that are too large for their fields. A file of its own, since few models are. */
import { fieldsOf } from '../../../runtime/bytes.js'
import type { ByteReader } from '../bytes.js'
import { damaged } from '../../../program/file-error.js'
import { ELSEWHERE32 } from './magic.js'

const ZIP64_LOCATOR = 0x07064b50
const ZIP64_LOCATOR_BYTES = 20
const ZIP64_END = 0x06064b50
const ZIP64_END_BYTES = 56
const ZIP64_EXTRA = 1

/** Where the directory is. */
export interface Place {
  readonly count: number
  readonly bytes: number
  readonly offset: number
}

/** Where the zip64 record says that the directory is; null where there is none. */
export function readZip64End(source: ByteReader, endOffset: number): (Place & { readonly endOffset: number }) | null {
  const locator = endOffset < ZIP64_LOCATOR_BYTES ? undefined : fieldsOf(source.read(endOffset - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES))
  if (locator?.getUint32(0, true) !== ZIP64_LOCATOR) return null
  const place = Number(locator.getBigUint64(8, true))
  const end = fieldsOf(source.read(place, ZIP64_END_BYTES))
  if (end.getUint32(0, true) !== ZIP64_END) throw damaged('no zip64 directory record where its locator says')
  const number = (at: number): number => Number(end.getBigUint64(at, true))
  return { count: number(32), bytes: number(40), offset: number(48), endOffset: place }
}

/** Numbers too large for 32 bits stand in an extra field, in this order, only those that are needed. */
export function readZip64Sizes(extra: DataView, sizes: number[]): void {
  const missing = sizes.flatMap((size, i) => (size === ELSEWHERE32 ? [i] : []))
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== ZIP64_EXTRA) continue
    const length = extra.getUint16(at + 2, true)
    if (length < 8 * missing.length || at + 4 + length > extra.byteLength) break
    missing.forEach((size, i) => (sizes[size] = Number(extra.getBigUint64(at + 4 + 8 * i, true))))
    return
  }
  throw damaged('a record of the zip lacks its zip64 sizes')
}
