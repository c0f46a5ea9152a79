import { PtliteError } from '../../error.js'
import type { Device, RandomGenerator } from '../../tensor/value.js'
import { type Int, toInt } from '../../tensor/scalar.js'
import { newGenerator, restart, seedOf } from '../support/generator.js'

/* Random number generators as values of a program: those of the CPU, whose sequence after a seed is PyTorch's. */

/** Of generators that no seed is given for (c10's default_rng_seed_val). */
const DEFAULT_SEED = 67280421310721

/** torch.Generator. Throws MODEL_ERROR for devices other than the CPU. */
export function generator(device: Device | null, seed: Int | null): RandomGenerator {
  if (device !== null && device.type !== 'cpu') {
    throw new PtliteError('MODEL_ERROR', `RuntimeError: expected a generator on the CPU, found device ${device.toString()}`)
  }
  return newGenerator(seed ?? DEFAULT_SEED)
}

/** Starts from a seed that nobody knows, and returns it. */
export function generator_seed(self: RandomGenerator): Int {
  const seed = toInt(crypto.getRandomValues(new BigInt64Array(1))[0]!)
  restart(self, seed)
  return seed
}

/** The seed that the sequence started from. */
export function generator_initial_seed(self: RandomGenerator): Int {
  return seedOf(self)
}

export function generator_manual_seed(self: RandomGenerator, seed: Int): RandomGenerator {
  restart(self, seed)
  return self
}
