import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { contiguousCopy, contiguousOf, copyInto } from '../support/copy.js'
import type { CPU } from '../support/generated/interfaces.js'

/** Bits of a direction number, of which a dimension has as many (MAXBIT of PyTorch's SobolEngineOpsUtils.h). */
const BITS = 30

function checkInts(operator: string, what: string, t: Tensor, shape: readonly number[]): void {
  check(
    t.type === DType.int64 && sameShape(t.shape, shape),
    () => `${operator}: expected ${what} to be int64${shapeText(shape)}, found ${t.dtype}${shapeText(t.shape)}`,
  )
}

/** Moves a dense `point` on by `count` points, which go to `out` in the dtype of `out`. */
function step(
  operator: string,
  point: Tensor,
  count: number,
  directions: Tensor,
  dimension: number,
  generated: number,
  out: Tensor | null,
): void {
  checkInts(operator, 'directions', directions, [dimension, BITS])
  check(
    count >= 0 && generated >= 0 && generated + count <= 2 ** BITS,
    () => `${operator}: expected at most 2^${BITS} points in all, found ${count} after ${generated}`,
  )
  const rows = contiguousOf(directions)
  kernels.sobol_points({
    dtype: out?.type ?? DType.float32,
    count,
    dimension,
    generated,
    point: point.address,
    directions: rows.address,
    out: out?.address ?? 0,
  })
}

/**
 * The next `n` points [n, dimension] of a Sobol sequence in [0, 1), of which `numGenerated` were drawn, and the state after them. `quasi` is the state before
 * them, int64 [dimension]; `sobolstate` holds the direction numbers, int64 [dimension, 30]. float32 or float64 (torch.quasirandom.SobolEngine).
 */
export const _sobol_engine_draw: CPU['_sobol_engine_draw'] = (quasi, n, sobolstate, dimension, numGenerated, dtype) => {
  const operator = '_sobol_engine_draw'
  const type = dtype ?? DType.float32
  checkInts(operator, 'quasi', quasi, [dimension])
  check(type === DType.float32 || type === DType.float64, () => `${operator}: expected float32 or float64`)
  check(n >= 0, () => `${operator}: expected a number of points, found ${n}`)
  const [out, point] = [empty([n, dimension], type), contiguousCopy(quasi)]
  step(operator, point, n, sobolstate, dimension, numGenerated, out)
  return [out, point]
}

/** Passes over `n` points. */
export function _sobol_engine_ff_(self: Tensor, n: number, sobolstate: Tensor, dimension: number, numGenerated: number): Tensor {
  checkInts('_sobol_engine_ff_', 'quasi', self, [dimension])
  const point = contiguousCopy(self)
  step('_sobol_engine_ff_', point, n, sobolstate, dimension, numGenerated, null)
  copyInto(self, point)
  return self
}

/** Scrambles direction numbers by a lower triangular matrix of bits for each dimension, int64 [dimension, 30, 30], whose diagonal is taken for ones. */
export function _sobol_engine_scramble_(self: Tensor, ltm: Tensor, dimension: number): Tensor {
  checkInts('_sobol_engine_scramble_', 'directions', self, [dimension, BITS])
  checkInts('_sobol_engine_scramble_', 'the matrices', ltm, [dimension, BITS, BITS])
  const [directions, matrices] = [contiguousCopy(self), contiguousOf(ltm)]
  kernels.sobol_scramble({ dimension, directions: directions.address, matrices: matrices.address })
  copyInto(self, directions)
  return self
}
