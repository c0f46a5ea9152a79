/** Numbers that follow from a seed. */
export type Random = () => number

/**
 * Numbers from 0 up to 1, of 53 bits each: xoshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its state filled
 * by splitmix32 from a whole number of up to 53 bits. The same on every machine.
 */
export function randomFrom(seed: number): Random {
  let mixed = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0
  const split = (): number => {
    mixed = (mixed + 0x9e3779b9) >>> 0
    let z = mixed
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
    return (z ^ (z >>> 16)) >>> 0
  }
  let [a, b, c, d] = [split(), split(), split(), (split() ^ Math.floor(seed / 2 ** 32)) >>> 0]
  const next = (): number => {
    const result = (rotated((a + d) >>> 0, 7) + a) >>> 0
    const t = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= t
    d = rotated(d, 11)
    return result
  }
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53
}

const rotated = (x: number, bits: number): number => ((x << bits) | (x >>> (32 - bits))) >>> 0
