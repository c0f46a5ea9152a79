import type { Random } from '../random.js'

/** Numbers that are counts, indices, offsets, kinds or sizes in most places where they stand. */
const SMALL = 1 << 16

/**
 * A change of numbers that are where tables of a flatbuffer have theirs, at multiples of 4: one becomes another one of the file, a neighbour of itself or a number at an edge; what are
 * offsets then lead to other tables, and what are indices name other values.
 */
export function mutateWords(bytes: Uint8Array, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const words = Math.floor(copy.length / 4)
  if (words === 0) return copy
  for (let i = random.between(1, 3); i > 0; i--) {
    const at = 4 * small(copy, words, random)
    const value = copy.readInt32LE(at)
    const other = copy.readInt32LE(4 * small(copy, words, random))
    const next = random.pick([other, other, value + 1, value - 1, value + 4, value - 4, -value, 0, random.below(64)])
    if (random.once(4)) copy.writeUInt16LE(next & 0xffff, at + 2 * random.below(2))
    else if (random.once(8)) copy.writeUInt8(next & 0xff, at + random.below(4))
    else copy.writeInt32LE(next | 0, at)
  }
  return copy
}

/** A word that holds a small number, where a few tries find one. */
function small(bytes: Buffer, words: number, random: Random): number {
  for (let tries = 8; ; tries--) {
    const word = random.below(words)
    const value = bytes.readInt32LE(4 * word)
    if (tries === 0 || (value !== 0 && value > -SMALL && value < SMALL)) return word
  }
}
