/** Random numbers of a seed; neighbouring seeds have nothing in common. */
export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = Math.imul(seed ^ (seed >>> 15) ^ 0x6d2b79f5, 0x2c1b3c6d) ^ Math.floor(seed / 2 ** 32)
  }

  /** mulberry32: 0 up to, not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let x = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  chance(p: number): boolean {
    return this.next() < p
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  times<T>(n: number, make: (i: number) => T): T[] {
    return Array.from({ length: n }, (_, i) => make(i))
  }
}
