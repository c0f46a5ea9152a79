import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { arrayTypeOf, readTensor, writeTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import type { RandomGenerator } from '../../tensor/value.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { stateOf } from '../support/generator.js'
import { expandTo } from '../support/make.js'
import { checkSameType } from '../support/product.js'

/** Samples with a parameter per element, in the sequence that PyTorch gives on the CPU. */

function checkFull(operator: string, t: Tensor): void {
  if (t.type !== DType.float32 && t.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected a float32 or float64 tensor, found ${t.dtype}`)
  }
}

/** How many of `count` trials succeed, each with probability `prob`, in the dtype of both; the shapes are broadcast. */
export function binomial(count: Tensor, prob: Tensor, generator: RandomGenerator | null): Tensor {
  checkFull('binomial', count)
  checkSameType('binomial', count, prob)
  const shape = broadcastShapes(count.shape, prob.shape)
  const trials = contiguousOf(expandTo(count, shape))
  const p = contiguousOf(expandTo(prob, shape))
  const out = empty(shape, count.type)
  const { type: dtype, numel } = out
  kernels.random_binomial({ dtype, state: stateOf(generator), count: numel, trials: trials.address, p: p.address, out: out.address })
  return out
}

/** Samples of gamma distributions of these shapes and scale 1, at least the smallest normal number. */
export function _standard_gamma(self: Tensor, generator: RandomGenerator | null): Tensor {
  checkFull('_standard_gamma', self)
  const shapes = contiguousOf(self)
  const out = empty(self.shape, self.type)
  kernels.random_gamma({ dtype: out.type, state: stateOf(generator), count: out.numel, in: shapes.address, out: out.address })
  return out
}

/** Least normal number and the largest one below 1. */
const LIMITS = { [DType.float32]: [2 ** -126, 1 - 2 ** -24], [DType.float64]: [2 ** -1022, 1 - 2 ** -53] } as const

/** Samples of Dirichlet distributions whose concentrations are the rows of `self`: rows of shares that sum up to 1. */
export function _sample_dirichlet(self: Tensor, generator: RandomGenerator | null): Tensor {
  checkFull('_sample_dirichlet', self)
  const [least, most] = LIMITS[self.type as typeof DType.float32 | typeof DType.float64]
  const gammas = readTensor(_standard_gamma(castTo(self, DType.float64), generator)) as Float64Array
  const width = self.shape[self.dim - 1] ?? 1
  const shares = new (arrayTypeOf(self.type))(gammas.length) as Float32Array | Float64Array
  for (let row = 0; row < gammas.length; row += width) {
    let sum = 0
    for (let i = row; i < row + width; i++) sum += gammas[i]!
    for (let i = row; i < row + width; i++) shares[i] = Math.min(Math.max(gammas[i]! / sum, least), most)
  }
  const out = empty(self.shape, self.type)
  writeTensor(out, shares)
  return out
}
