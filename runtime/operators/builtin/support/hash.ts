import { pace } from '../../../pace.js'

/**
 * Hashes as PyTorch on x86-64 Linux gives them: ints are their own hash; strings and floats go through the 64-bit Murmur hash
 * of libstdc++, with its fixed seed.
 */

const MASK = 0xffffffffffffffffn
const MULTIPLIER = 0xc6a4a7935bd1e995n
const SEED = 0xc70f6907n

const mix = (v: bigint): bigint => v ^ (v >> 47n)
const times = (a: bigint, b: bigint): bigint => (a * b) & MASK

/** Murmur hash of some bytes, as an unsigned 64-bit integer. */
export function hashBytes(bytes: Uint8Array): bigint {
  const whole = bytes.length & ~7
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let hash = SEED ^ times(BigInt(bytes.length), MULTIPLIER)
  for (let i = 0; i < whole; i += 8) {
    pace(64)
    const data = times(mix(times(view.getBigUint64(i, true), MULTIPLIER)), MULTIPLIER)
    hash = times(hash ^ data, MULTIPLIER)
  }
  if (whole < bytes.length) {
    let rest = 0n
    for (let i = bytes.length - 1; i >= whole; i--) rest = (rest << 8n) | BigInt(bytes[i]!)
    hash = times(hash ^ rest, MULTIPLIER)
  }
  return mix(times(mix(hash), MULTIPLIER))
}

/** Both zeros hash to 0. */
export function hashDouble(value: number): bigint {
  if (value === 0) return 0n
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return hashBytes(bytes)
}

/** c10::hash_combine: the hash of a tuple grows by one element. */
export function combineHashes(seed: bigint, value: bigint): bigint {
  return (seed ^ ((value + 0x9e3779b9n + (seed << 6n) + (seed >> 2n)) & MASK)) & MASK
}
