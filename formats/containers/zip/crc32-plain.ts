import { mustBeNoLibrary } from '../no-library.js'

/** Polynomial of CRC-32 (IEEE 802.3), lowest bit first. */
const POLYNOMIAL = 0xedb88320

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0)
  return rest
})

/** CRC-32 of bytes behind those whose CRC-32 is `before`, where there is no kernel library. Throws `cause` where that is another error. */
export function plainCrc32(cause: unknown, bytes: Uint8Array, before: number): number {
  mustBeNoLibrary(cause)
  let rest = ~before
  for (const byte of bytes) rest = (rest >>> 8) ^ TABLE[(rest ^ byte) & 0xff]!
  return ~rest >>> 0
}
