import { PtliteError } from '../../error.js'
import { type Int, type Scalar, scalarToBigInt } from '../../tensor/scalar.js'
import { broadcastShapes } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Value } from '../../tensor/value.js'

/* What an exported program says about the sizes it was made for. Violations are MODEL_ERRORs. */

const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n

function fail(message: string): never {
  throw new PtliteError('MODEL_ERROR', `RuntimeError: ${message}`)
}

/** `size`, a fraction truncated, lies in min..max; a bound that is null is none. */
export function constrain_range(size: Scalar, min: Int | null, max: Int | null): void {
  const [least, most] = [min ?? LEAST, max ?? MOST]
  if (most < least) fail(`Max must be greater than or equal to min. Got min=${least} max=${most}`)
  const value = scalarToBigInt(size)
  if (value < least || value > most) fail(`Invalid value range for ${value} between [${least}, ${most}].`)
}

/** The same of a size, which is not negative. PyTorch takes no `max` up to 2, as sizes of 0 and 1 are special to it. */
export function constrain_range_for_size(size: Scalar, min: Int | null, max: Int | null): void {
  if (max !== null && max <= 2) fail(`Max value to constrain_range_for_size must be greater than 2. got: ${max}`)
  constrain_range(size, min ?? 0, max)
}

export function functional_constrain_range(size: Scalar, min: Int | null, max: Int | null, token: Tensor): Tensor {
  constrain_range(size, min, max)
  return token
}

export function functional_constrain_range_for_size(size: Scalar, min: Int | null, max: Int | null, token: Tensor): Tensor {
  constrain_range_for_size(size, min, max)
  return token
}

/** The shape that both broadcast to. Throws INVALID_ARGUMENT where there is none. */
export function broadcast_shapes(a: Value[], b: Value[]): Value[] {
  return [...broadcastShapes(a.map(Number), b.map(Number))]
}
