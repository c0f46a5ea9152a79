import type { Tensor } from './tensor.js'

/**
 * Nested tensors as nn.TransformerEncoder makes and uses them: a batch of sequences of different lengths. They are padded tensors
 * [batch, longest, width] of which the lengths are known; what lies behind the end of a sequence has no meaning.
 */

const lengths = new WeakMap<Tensor, readonly number[]>()

/** How long the sequences of a nested tensor are, null for any other tensor. */
export function sequenceLengths(t: Tensor): readonly number[] | null {
  return lengths.get(t) ?? null
}

/** Makes a padded tensor nested. */
export function asNested(padded: Tensor, of: readonly number[]): Tensor {
  lengths.set(padded, of)
  return padded
}
