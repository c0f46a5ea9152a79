/** Numbers of 32 bits and less that sit at the edges of what formats count with. */
const EDGES = [
  0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1000, 4095, 4096, 32767, 32768, 65535, 65536, 1 << 20, 2 ** 31 - 1, 2 ** 31,
  2 ** 32 - 2, 2 ** 32 - 1,
] // prettier-ignore

/** mulberry32: the same numbers for a seed. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** Of 32 bits. */
  bits(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let x = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return (x ^ (x >>> 14)) >>> 0
  }

  /** An integer from 0 on that is less than `n`; 0 where `n` is. */
  below(n: number): number {
    return Math.floor((this.bits() / 2 ** 32) * n)
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  /** True once in `n` times. */
  once(n: number): boolean {
    return this.below(n) === 0
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  /** Picks by weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let left = this.below(items.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, item] of items) if ((left -= weight) < 0) return item
    return items[0]![1]
  }

  /** A number at an edge, or beside `near`. */
  edge(near = 0): number {
    switch (this.below(4)) {
      case 0:
        return near + this.between(-2, 2)
      case 1:
        return -this.pick(EDGES)
      case 2:
        return this.below(16)
      default:
        return this.pick(EDGES)
    }
  }

  /** An integer of 64 bits at an edge. */
  edge64(near = 0n): bigint {
    if (this.once(4)) return this.pick([2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, -(2n ** 53n) - 1n, 2n ** 32n, 2n ** 62n, 2n ** 40n])
    return this.once(2) ? near + BigInt(this.between(-2, 2)) : BigInt(this.edge())
  }

  double(): number {
    return this.pick([0, -0, 1, -1, 0.5, 1e-300, 1e300, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 63), 5e-324, this.below(1000) / 7])
  }
}

/** A seed of its own for each of several numbers. */
export function mix(...numbers: readonly number[]): number {
  let hash = 0x811c9dc5
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number | 0), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
    hash ^= hash >>> 13
  }
  return hash >>> 0
}
