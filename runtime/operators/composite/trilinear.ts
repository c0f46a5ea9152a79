import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { unsqueeze } from '../../tensor/view.js'
import * as at from '../generated/dispatch.js'
import type { Composite } from '../support/generated/interfaces.js'

/** Dimensions of size 1 at these places of the result. */
function expandedAt(t: Tensor, places: readonly number[], rank: number): Tensor {
  check(
    t.dim + new Set(places).size === rank && places.every((d) => d >= 0 && d < rank),
    () => `_trilinear: expected places of added dimensions below ${rank}, found [${places.join(', ')}]`,
  )
  return [...new Set(places)].sort((a, b) => a - b).reduce((grown, d) => unsqueeze(grown, d), t)
}

/** Sums over `sumdim` of i1 i2 i3, each with dimensions of size 1 added at its `expand` places. `unrollDim` only says how PyTorch computes. */
export const _trilinear: Composite['_trilinear'] = (i1, i2, i3, expand1, expand2, expand3, sumdim, unrollDim) => {
  const rank = i1.dim + expand1.length
  check(unrollDim >= 0 && unrollDim < rank, () => `_trilinear: expected an unroll_dim from 0 to ${rank - 1}, found ${unrollDim}`)
  const [x, y, z] = [expandedAt(i1, expand1, rank), expandedAt(i2, expand2, rank), expandedAt(i3, expand3, rank)]
  const product = at.mul_Tensor(at.mul_Tensor(x, z), y)
  return sumdim.length === 0 ? product : at.sum_dim_IntList(product, sumdim, false, null)
}
