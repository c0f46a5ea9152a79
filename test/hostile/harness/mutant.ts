import { mix, Random } from '../random.js'
import type { Base, Target } from './target.js'

/** One mutant, as its number says. */
export interface Mutant {
  readonly bytes: Buffer
  readonly base: Base
  /** Changes that it was made with. */
  readonly steps: number
  /** Decides how it is run. */
  readonly choice: number
}

/** All changes are made. */
export const ALL = 0xffffffff

/** Mutant `index` of a seed. Bits of `mask` say which of its changes are made. `from` is what it is made of instead of one of the bases. */
export function mutantOf(target: Target, seed: number, index: number, mask = ALL, from?: Base): Mutant {
  const random = new Random(mix(seed, index))
  const base = random.pick(target.bases)
  const steps = random.pick([1, 1, 1, 1, 2, 2, 3, 4])
  const choice = random.bits()
  const start = from ?? base
  let bytes = start.bytes
  for (let step = 0; step < steps; step++)
    if ((mask & (1 << step)) !== 0) bytes = target.mutate(bytes, new Random(mix(seed, index, step + 1)))
  return { bytes, base: start, steps, choice }
}
