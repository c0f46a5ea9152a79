import { hashOf } from '../../compiler/ahead/hash.js'
import { PREAMBLE_BYTES, readPreamble, writePreamble } from '../../compiler/ahead/preamble.js'

/** The file with checksums that fit what it holds now. */
export function sealed(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  const preamble = readPreamble(copy, copy.length, 'a test', hashOf)
  const header = copy.subarray(PREAMBLE_BYTES, PREAMBLE_BYTES + preamble.headerBytes)
  const data = copy.subarray(preamble.dataStart)
  copy.set(writePreamble({ ...preamble, headerHash: hashOf(header), dataHash: hashOf(data) }, hashOf))
  return copy
}

export function headerBytes(bytes: Uint8Array): number {
  return readPreamble(bytes, bytes.length, 'a test', hashOf).headerBytes
}

/** Numbers in [0, 1) by a linear congruence. */
export function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
