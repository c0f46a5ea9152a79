import * as kernels from '../../../runtime/native/generated/kernels.js'
import { Random } from './random.js'

const BYTES = 1 << 16

function pool(write: (bytes: DataView, random: Random) => void): Uint8Array {
  const bytes = new Uint8Array(BYTES)
  write(new DataView(bytes.buffer), new Random(7))
  return bytes
}

/** Bits, NaN or -1, zeros, and numbers of which most are indices of something. */
const POOLS: readonly Uint8Array[] = [
  pool((view, random) => {
    for (let i = 0; i < BYTES; i += 4) view.setUint32(i, random.word(), true)
  }),
  pool((view) => new Uint8Array(view.buffer).fill(0xff)),
  pool(() => undefined),
  pool((view, random) => {
    for (let i = 0; i < BYTES; i += 8)
      view.setBigInt64(i, BigInt(random.chance(0.01) ? random.word() : random.below(4)) - (random.chance(0.02) ? 3n : 0n), true)
  }),
  pool((view, random) => {
    for (let i = 0; i < BYTES; i += 4) view.setInt32(i, random.chance(0.01) ? random.word() | 0 : random.below(4), true)
  }),
  pool((view, random) => {
    for (let i = 0; i < BYTES; i += 4) view.setFloat32(i, random.of([0, -1, 1, 0.25, 3, 1e30, Infinity]) * random.below(100), true)
  }),
]

/** Fills a block with one kind of contents. */
export function fill(address: number, bytes: number, random: Random): void {
  const from = random.of(POOLS)
  for (let at = 0; at < bytes; at += BYTES) {
    const length = Math.min(BYTES, bytes - at)
    kernels.mem_write({ address: address + at, bytes: length }, from.subarray(0, length))
  }
}
