/** Numbers that follow from a seed. */
export class Random {
  private state: number

  constructor(seed: number, round = 0) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b)) >>> 0
    for (let i = 0; i < 4; i++) this.word()
  }

  /** 32 bits (splitmix32). */
  word(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0
    let z = this.state
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }

  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n)
  }

  chance(p: number): boolean {
    return this.word() / 2 ** 32 < p
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}
