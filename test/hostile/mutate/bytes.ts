import type { Random } from '../random.js'

type BytesMutation = (bytes: Buffer, random: Random, other: Uint8Array) => Buffer

/** Changes that know nothing of a format. Each gets a copy to write to. */
const MUTATIONS: readonly (readonly [number, BytesMutation])[] = [
  [3, flip],
  [3, scribble],
  [3, edge],
  [2, repeat],
  [2, remove],
  [2, insert],
  [2, truncate],
  [2, splice],
  [1, (bytes, _, other) => Buffer.concat([bytes, other])],
]

/** One blind change. `other` is what pieces come from. */
export function mutateBytes(bytes: Uint8Array, random: Random, other: Uint8Array): Buffer {
  const copy = Buffer.from(bytes)
  return copy.length === 0 ? Buffer.from(other) : random.weighted(MUTATIONS)(copy, random, other)
}

function flip(bytes: Buffer, random: Random): Buffer {
  for (let i = random.between(1, 4); i > 0; i--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
  return bytes
}

function scribble(bytes: Buffer, random: Random): Buffer {
  const start = random.below(bytes.length)
  const end = Math.min(bytes.length, start + random.between(1, 16))
  for (let at = start; at < end; at++) bytes[at] = random.below(256)
  return bytes
}

/** A number of 1, 2, 4 or 8 bytes at an edge. */
function edge(bytes: Buffer, random: Random): Buffer {
  const width = random.pick([1, 2, 4, 8].filter((each) => each <= bytes.length))
  const at = random.below(bytes.length - width + 1)
  const number = Buffer.alloc(8)
  number.writeBigInt64LE(BigInt.asIntN(64, random.edge64()))
  if (random.once(8)) number.reverse()
  number.copy(bytes, at, 0, width)
  return bytes
}

function repeat(bytes: Buffer, random: Random): Buffer {
  const from = random.below(bytes.length)
  bytes.copyWithin(random.below(bytes.length), from, from + random.between(1, 64))
  return bytes
}

function remove(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length)
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.between(1, 32))])
}

function insert(bytes: Buffer, random: Random, other: Uint8Array): Buffer {
  const at = random.below(bytes.length + 1)
  const from = random.below(other.length)
  return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + random.between(1, 32)), bytes.subarray(at)])
}

function truncate(bytes: Buffer, random: Random): Buffer {
  return bytes.subarray(0, random.below(bytes.length))
}

/** The beginning of one and the end of the other. */
function splice(bytes: Buffer, random: Random, other: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, random.below(bytes.length)), other.subarray(random.below(other.length))])
}
