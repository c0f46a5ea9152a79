import { mix, Random } from '../hostile/random.js'

/** What decides how a program looks. */
export class Dice extends Random {
  chance(probability: number): boolean {
    return this.bits() / 2 ** 32 < probability
  }

  /** A multiple of 1/8 from -2 to 2: sums and products of a few of them are exact, in whatever order they are computed. */
  number(): number {
    return this.between(-16, 16) / 8
  }
}

export function diceOf(seed: number, family: string): Dice {
  return new Dice(mix(seed, ...Buffer.from(family)))
}
