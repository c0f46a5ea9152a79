import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { cdist } from './linalg.js'
import { contiguousOf } from '../support/copy.js'

/** Distances of order p between all pairs of rows of a matrix, n (n - 1) / 2 of them: row 0 with 1, 2, ..., row 1 with 2, ... */
export function pdist(self: Tensor, p: number): Tensor {
  check(self.dim === 2, () => `pdist: expected a matrix, found shape [${self.shape.join(', ')}]`)
  check(p >= 0, () => `pdist: expected an order of 0 or more, found ${p}`)
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `pdist: expected a float32 or float64 tensor, found ${self.dtype}`)
  }
  const [rows, size] = self.shape as [number, number]
  const result = empty([(rows * Math.max(rows - 1, 0)) / 2], self.type)
  const data = contiguousOf(self)
  const bytes = size * self.itemSize
  let output = result.address
  for (let first = 0; first + 1 < rows; first++) {
    const n = rows - first - 1
    const a = data.address + first * bytes
    kernels.cdist({ dtype: self.type, batch: 1, m: 1, n, size, order: p, a, b: a + bytes, output })
    output += n * self.itemSize
  }
  return result
}

export { pdist as _pdist_forward }

/** Euclidean distances between the rows of x1 [..., m, d] and those of x2 [..., n, d]. */
export function _euclidean_dist(x1: Tensor, x2: Tensor): Tensor {
  return cdist(x1, x2, 2, null)
}
