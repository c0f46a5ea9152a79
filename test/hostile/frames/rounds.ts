import { Random } from './random.js'

export interface Round {
  readonly kernel: string
  readonly random: Random
  /** Levels that serve the frame, as plan_run takes them. */
  readonly levels: number
  readonly threads: number
}

/** Sets of levels: all in use, the lowest, up to AVX2, up to AVX512. */
const LEVELS = [0, 0b1, 0b11, 0b1111]

/** What a round of a seed does. */
export function roundOf({ seed, kernels }: { readonly seed: number; readonly kernels: readonly string[] }, round: number): Round {
  const random = new Random(seed, round)
  return { kernel: kernels[round % kernels.length]!, random, levels: random.of(LEVELS), threads: random.of([1, 2]) }
}
